package policy_test

import (
	"errors"
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/policy"
)

// way builds hosts "name jump", each with a credential and address of its own.
func way(t *testing.T, levels map[string]action.Level, pairs ...string) []policy.Item {
	t.Helper()
	var items []policy.Item
	for _, p := range pairs {
		name, jump, _ := strings.Cut(p, " ")
		level, ok := levels[name]
		if !ok {
			level = action.None
		}
		items = append(items,
			item(t, policy.KindCredential, "key-"+name, 2, policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://" + name + ".example:22"}, Approval: action.None}),
			item(t, policy.KindHost, name, 3, policy.Host{Addr: name + ".example:22", User: "u", Credential: "key-" + name, HostKeys: []string{pin}, Approval: level, Jump: jump}))
	}
	return items
}

func TestTheWayLeadsOverJumpHosts(t *testing.T) {
	g := load(t, way(t, map[string]action.Level{"b": action.Presence, "c": action.Call}, "a", "b a", "c b", "d c")...)
	steps, b, err := g.BindHost("d")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range steps {
		names = append(names, s.Host.Name+"/"+s.Credential.Name)
	}
	if got := strings.Join(names, " "); got != "a/key-a b/key-b c/key-c d/key-d" {
		t.Errorf("the way is %s", got)
	}
	if b.Floor != action.Presence || b.Credential.Name != "key-d" || len(b.Items) != 8 {
		t.Errorf("%+v", b)
	}
	hosts, _ := g.Summary()
	for _, h := range hosts {
		want := action.Presence
		if h.Name == "a" {
			want = action.Call
		}
		if h.Level != want {
			t.Errorf("host %s is listed with %v, want %v", h.Name, h.Level, want)
		}
	}
	if hosts[0].Read != action.Session || hosts[3].Read != action.Presence {
		t.Errorf("reads are listed with %v and %v", hosts[0].Read, hosts[3].Read)
	}
}

func TestAWayThatLeadsNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		hosts []string
		words string
	}{
		"itself":  {[]string{"a a"}, "in a circle (a by way of a)"},
		"circle":  {[]string{"a b", "b c", "c a"}, "in a circle (a by way of b by way of c by way of a)"},
		"behind":  {[]string{"a b", "b c", "c b"}, "in a circle"},
		"no jump": {[]string{"a b"}, `by way of "b", which the vault does not hold`},
	} {
		_, _, err := load(t, way(t, nil, c.hosts...)...).BindHost("a")
		if !errors.Is(err, policy.ErrNotBound) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	items := way(t, nil, "a", "b a")
	items[0] = item(t, policy.KindCredential, "key-a", 2, policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://other.example:22"}, Approval: action.None})
	if _, _, err := load(t, items...).BindHost("b"); !errors.Is(err, policy.ErrNotBound) {
		t.Errorf("a jump host whose credential is bound elsewhere: %v", err)
	}
}

func TestLevelsOfFileOperations(t *testing.T) {
	for op, want := range map[string]action.Level{action.ReadFile: action.Session, action.ListDir: action.Session, action.WriteFile: action.Call, "": action.Call, "chmod": action.Call} {
		if got := policy.DefaultLevel(&action.File{Operation: op}); got != want {
			t.Errorf("%q: %v, want %v", op, got, want)
		}
	}
}
