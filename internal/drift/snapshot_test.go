package drift_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/internal/drift"
)

func TestParseForms(t *testing.T) {
	want := parse(t, `{"tools":[{"name":"a"},{"name":"b"}]}`).Hash()
	for _, text := range []string{
		`[{"name":"b"},{"name":"a"}]`,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"b"},{"name":"a"}]}}`,
		`{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":null,"ttlMs":5,"server":{"version":"2"}}`,
	} {
		if got := parse(t, text).Hash(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]error{
		``: drift.ErrMalformed, `{`: drift.ErrMalformed, `{"tools":[]}x`: drift.ErrMalformed, `{"tools":[],}`: drift.ErrMalformed,
		`{"tools":[],"tools":[]}`: drift.ErrMalformed, `{"tools":[],"\u0074ools":[]}`: drift.ErrMalformed,
		`{"tools":[{"name":"\ud800"}]}`: drift.ErrMalformed, "{\"tools\":[{\"name\":\"\xff\"}]}": drift.ErrMalformed,
		`{"tools":[{"name":"a\` + "\n" + `"}]}`: drift.ErrMalformed, `[01]`: drift.ErrMalformed, `[+1]`: drift.ErrMalformed, `[nul]`: drift.ErrMalformed,
		`{}`: drift.ErrNotTools, `{"tools":{}}`: drift.ErrNotTools, `{"tools":[1]}`: drift.ErrNotTools, `{"tools":[{"name":""}]}`: drift.ErrNotTools,
		`"x"`: drift.ErrNotTools, `null`: drift.ErrNotTools,
		`[` + strings.Repeat(" ", drift.MaxSnapshotBytes) + `]`: drift.ErrTooLarge,
	} {
		if _, err := drift.Parse([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
}

// TestHashes: what may move without a hash moving, and what may not.
func TestHashes(t *testing.T) {
	base := parse(t, `[{"name":"t","description":"d","inputSchema":{"type":["string","null"],"enum":["a","b"],"minimum":10}}]`)
	for _, r := range []struct {
		text              string
		contract, surface bool // equal
	}{
		{`[{"inputSchema":{"minimum":1e1,"enum":["b","a","b"],"type":["null","string"]},"description":"d","name":"t"}]`, true, true},
		{`[{"name":"t","description":"D","inputSchema":{"type":["string","null"],"enum":["a","b"],"minimum":10.0}}]`, true, false},
		{`[{"name":"t","title":"T","description":"d","inputSchema":{"type":["string","null"],"enum":["a","b"],"minimum":10}}]`, true, false},
		{`[{"name":"t","description":"d","inputSchema":{"type":["string","null"],"enum":["a","b"],"minimum":11}}]`, false, false},
		{`[{"name":"t","description":"d","annotations":{"readOnlyHint":true},"inputSchema":{"type":["string","null"],"enum":["a","b"],"minimum":10}}]`, false, false},
		{`[{"name":"u","description":"d","inputSchema":{"type":["string","null"],"enum":["a","b"],"minimum":10}}]`, false, false},
	} {
		got := parse(t, r.text)
		if (got.ContractHash() == base.ContractHash()) != r.contract || (got.Hash() == base.Hash()) != r.surface {
			t.Errorf("%s: contract equal %t, surface equal %t", r.text, got.ContractHash() == base.ContractHash(), got.Hash() == base.Hash())
		}
	}
}

// TestSetsOnlyWhereTheyAreSets: "required" the property and data lists keep their order.
func TestSetsOnlyWhereTheyAreSets(t *testing.T) {
	for _, pair := range [][2]string{
		{`{"properties":{"required":{"default":["b","a"]}}}`, `{"properties":{"required":{"default":["a","b"]}}}`},
		{`{"default":{"enum":["b","a"]}}`, `{"default":{"enum":["a","b"]}}`},
		{`{"const":["b","a"]}`, `{"const":["a","b"]}`},
		{`{"maximum":9007199254740993}`, `{"maximum":9007199254740992}`},
	} {
		a, b := parse(t, `[{"name":"t","inputSchema":`+pair[0]+`}]`), parse(t, `[{"name":"t","inputSchema":`+pair[1]+`}]`)
		if a.Hash() == b.Hash() {
			t.Errorf("%s and %s are one", pair[0], pair[1])
		}
	}
}

func TestEncodeKeepsHashes(t *testing.T) {
	for _, text := range []string{`[{"name":"t","inputSchema":{"enum":[1.50,"é\u2028\u0001",{"b":1,"a":[]}],"maximum":12345678901234567890}}]`,
		`{"tools":[{"name":"t"},{"name":"t","title":"x"}],"server":{"name":"s"},"instructions":"i","capabilities":{"tools":{}}}`} {
		s := parse(t, text)
		raw, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again := parse(t, string(raw))
		if again.Hash() != s.Hash() || again.ContractHash() != s.ContractHash() {
			t.Errorf("%s became %s", text, raw)
		}
	}
}

func newStore(t *testing.T) drift.Store {
	return drift.Store{Dir: filepath.Join(t.TempDir(), "contracts")}
}

func TestStore(t *testing.T) {
	st := newStore(t)
	if all, err := st.Hashes(); err != nil || all != nil {
		t.Fatalf("empty store: %v %v", all, err)
	}
	a, b := parse(t, tool(``)), parse(t, tool(`,"title":"x"`))
	for range 2 {
		if hash, err := st.Put(a); err != nil || hash != a.Hash() {
			t.Fatalf("%s %v", hash, err)
		}
	}
	if _, err := st.Put(b); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{a.Hash(), a.Hash()[7:], a.Hash()[7:19], a.Hash()[:19]} {
		got, err := st.Get(ref)
		if err != nil || got.Hash() != a.Hash() {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for ref, want := range map[string]error{"abc": drift.ErrNotFound, "../../etc/passwd": drift.ErrNotFound, "": drift.ErrNotFound, "00000000": drift.ErrNotFound} {
		if _, err := st.Get(ref); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", ref, err, want)
		}
	}
	modes(t, st.Dir)
}

func modes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		if strings.HasPrefix(info.Name(), ".") {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStoreAmbiguous(t *testing.T) {
	st := newStore(t)
	first := map[string]bool{}
	for i := 0; ; i++ {
		s := parse(t, tool(fmt.Sprintf(`,"title":"%d"`, i)))
		if _, err := st.Put(s); err != nil {
			t.Fatal(err)
		}
		if prefix := s.Hash()[7:11]; first[prefix] {
			if _, err := st.Get(prefix); !errors.Is(err, drift.ErrAmbiguous) {
				t.Errorf("%s: %v", prefix, err)
			}
			return
		} else {
			first[prefix] = true
		}
	}
}

func TestStoreDamaged(t *testing.T) {
	st := newStore(t)
	s := parse(t, tool(``))
	hash, err := st.Put(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(st.Dir, "snapshots", "sha256-"+hash[7:]+".json")
	other, err := parse(t, tool(`,"title":"other"`)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{nil, []byte("{"), other} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Get(hash); !errors.Is(err, drift.ErrDamaged) {
			t.Errorf("%.20q: %v", content, err)
		}
		if _, err := st.Put(s); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Get(hash); err != nil {
			t.Errorf("put did not mend it: %v", err)
		}
	}
}

func TestPins(t *testing.T) {
	st := newStore(t)
	s := parse(t, tool(``))
	if _, err := st.SetPin("a", s.Hash()); !errors.Is(err, drift.ErrNotFound) {
		t.Errorf("pinned what is not kept: %v", err)
	}
	hash, err := st.Put(s)
	if err != nil {
		t.Fatal(err)
	}
	pin, err := st.SetPin("github.prod", hash[7:20])
	if err != nil || pin.Snapshot != hash || pin.Contract != s.ContractHash() {
		t.Fatalf("%+v %v", pin, err)
	}
	if got, err := st.Pinned("github.prod"); err != nil || got.Hash() != hash {
		t.Errorf("%v", err)
	}
	if all, err := st.Pins(); err != nil || len(all) != 1 || all[0] != pin {
		t.Errorf("%+v %v", all, err)
	}
	for _, name := range []string{"", "..", "a/b", ".x", "-x", "a\x00", strings.Repeat("a", 65), "é"} {
		if _, err := st.SetPin(name, hash); !errors.Is(err, drift.ErrPinName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	file := filepath.Join(st.Dir, "pins", "github.prod.json")
	raw, err := os.ReadFile(file)
	if err != nil || string(raw) != fmt.Sprintf("{\n  \"contract\": %q,\n  \"snapshot\": %q\n}\n", s.ContractHash(), hash) {
		t.Errorf("%s %v", raw, err)
	}
	for _, bad := range []string{`{}`, `{"snapshot":"x"}`, `{"Snapshot":"sha256:ab","contract":"x"}`, strings.Repeat(" ", 5000)} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Pin("github.prod"); err == nil {
			t.Errorf("read %.40q as a pin", bad)
		}
	}
	if err := st.Unpin("github.prod"); err != nil {
		t.Error(err)
	}
	if err := st.Unpin("github.prod"); !errors.Is(err, drift.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
