package policy_test

import (
	"errors"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"executor/internal/policy"
)

func TestPlainWords(t *testing.T) {
	for line, want := range map[string][]string{
		"uptime":                            {"uptime"},
		"  systemctl   status nginx ":       {"systemctl", "status", "nginx"},
		"ls -l '/srv/my app'":               {"ls", "-l", "/srv/my app"},
		`grep "two words" file`:             {"grep", "two words", "file"},
		`tar --exclude='*.log' -cf a.tar .`: {"tar", "--exclude=*.log", "-cf", "a.tar", "."},
		`echo ''`:                           {"echo", ""},
		`echo '$(id)'`:                      {"echo", "$(id)"},
		`a'b'"c"`:                           {"abc"},
	} {
		if got, err := policy.PlainWords(line); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
}

var notPlain = []string{
	"", "   ", "systemctl status nginx; id", "systemctl status nginx && id", "systemctl status nginx | sh", "systemctl status nginx &",
	"systemctl status $(id)", "systemctl status `id`", "systemctl status $UNIT", "systemctl status ${UNIT}", `systemctl status "$UNIT"`,
	`systemctl status "$(id)"`, "systemctl status <(id)", "systemctl status > f", "systemctl status 2>&1", "systemctl status < f",
	"systemctl status nginx\nid", "systemctl status nginx\n", "systemctl status nginx\r", "systemctl\tstatus nginx", "systemctl status nginx\x00id",
	"systemctl status *", "systemctl status ngin?", "systemctl status [n]ginx", "systemctl status {nginx,sshd}", "systemctl status ~root",
	`systemctl status ng\inx`, `systemctl status nginx \`, `systemctl status "a\"b"`, `systemctl status 'a\'`, "systemctl status $'a'", `systemctl status $"a"`,
	"PATH=/tmp systemctl status nginx", "A=1", "! systemctl status nginx", "time systemctl status nginx", "if true; then id; fi",
	"(id)", "{ id; }", "((1))", "[[ a ]]", "export A=b", "declare -x A", "function f { id; }", "coproc id", "ls # a comment", "# a comment", "ls #",
	"systemctl status 'nginx", `systemctl status "nginx`, "ls !!", `echo "a!b"`, "systemctl status nginx;", "ls =id", "systemctl status\u00a0nginx",
	"systemctl status ngin\u0445", "systemctl status nginx\u202e", "cat <<E", "let a=1", "a() { id; }", "eval $x", "ls ^x", "ls x^", "select x in y; do id; done",
	strings.Repeat("a ", 5000), "ls \xff",
}

func TestWhatIsNotPlain(t *testing.T) {
	for _, line := range notPlain {
		if got, err := policy.PlainWords(line); !errors.Is(err, policy.ErrNotPlain) {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}

// What is called plain means the same to real shells: they start the program with
// exactly these words.
func FuzzPlainWords(f *testing.F) {
	for _, line := range append(notPlain, "ls -l 'a b' \"c d\"", "echo a=b %c +d @e ,f :g", "echo '' x", "printf '%s' '{a,b}'") {
		f.Add(line)
	}
	shells := []string{}
	for _, sh := range []string{"sh", "bash", "dash", "zsh"} {
		if path, err := exec.LookPath(sh); err == nil {
			shells = append(shells, path)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := policy.PlainWords(line)
		if err != nil {
			if !errors.Is(err, policy.ErrNotPlain) {
				t.Fatalf("%q: %v", line, err)
			}
			return
		}
		if len(words) == 0 {
			t.Fatalf("%q has no words", line)
		}
		for _, sh := range shells {
			// The words are arguments here, so that none of them is run.
			out, err := exec.Command(sh, "-c", `printf '%s\0' `+line).Output()
			if err != nil {
				t.Fatalf("%s: %q: %v", sh, line, err)
			}
			got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if !slices.Equal(got, words) {
				t.Fatalf("%s reads %q as %q, and it was called %q", sh, line, got, words)
			}
		}
	})
}
