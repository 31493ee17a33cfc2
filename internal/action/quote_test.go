package action_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"executor/internal/action"
)

// seen runs printf through the shell and returns the arguments that it got.
func seen(t rapid.TB, argv []string) []string {
	t.Helper()
	line, err := action.QuotePOSIX(append([]string{"printf", `%s\000`}, argv...))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/bin/sh", "-c", line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	parts := strings.Split(string(out), "\x00")
	return parts[:len(parts)-1]
}

func TestQuotePOSIXThroughRealShell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anyByte := rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 12)
		awkward := rapid.SampledFrom([]string{"", "'", `\`, "$(id)", "`id`", "a\nb", "~", "*", "-n", "a=b", "!", "é", "\xff", "#x", "'\\''"})
		arg := rapid.OneOf(awkward, rapid.Map(anyByte, func(b []byte) string { return string(b) }))
		argv := rapid.SliceOfN(arg, 1, 5).Draw(t, "argv")
		got := seen(t, argv)
		if strings.Join(got, "\x00") != strings.Join(argv, "\x00") || len(got) != len(argv) {
			t.Fatalf("the shell saw %q, want %q", got, argv)
		}
	})
}

func TestQuotePOSIXFirstWord(t *testing.T) {
	for _, word := range []string{"A=1", "if", "while", "x y", "$HOME", "no-such-program"} {
		line, err := action.QuotePOSIX([]string{word})
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("/bin/sh", "-c", line).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 127 || !bytes.Contains(out, []byte("not found")) {
			t.Errorf("%s: %v %s, want the program %q not found", line, err, out, word)
		}
	}
}

func TestQuotePOSIXRefuses(t *testing.T) {
	if _, err := action.QuotePOSIX([]string{"a", "b\x00c"}); !errors.Is(err, action.ErrNUL) {
		t.Errorf("NUL: %v", err)
	}
	if _, err := action.QuotePOSIX(nil); err == nil {
		t.Error("an empty argv was quoted")
	}
}
