package mask_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"executor/internal/mask"
	"executor/internal/secret"
)

func filter(t testing.TB, set *mask.Set, text string, chunk int) (string, mask.Report) {
	t.Helper()
	var out bytes.Buffer
	w := set.Writer(&out, name)
	feed(t, w, text, chunk)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), w.Report()
}

func feed(t testing.TB, w *mask.Writer, text string, chunk int) {
	t.Helper()
	for len(text) > 0 {
		n := min(max(chunk, 1), len(text))
		if m, err := w.Write([]byte(text[:n])); m != n || err != nil {
			t.Fatalf("Write: %d, %v", m, err)
		}
		text = text[n:]
	}
}

// Wherever a stream is cut inside a secret, in whatever encoding, no begin of
// it of 8 characters stays.
func TestCutLeavesNoPrefix(t *testing.T) {
	for _, s := range []string{odd(t), secretsToEncode["surrogates"], secretsToEncode["token"]} {
		set := mask.NewSet(named(s))
		encoded := whole(s)
		for before := range 3 {
			pre := "uv"[:before]
			encoded[fmt.Sprint("base64 behind ", before)] = base64.StdEncoding.EncodeToString([]byte(pre + s))[(8*before)/6:]
		}
		for form, text := range encoded {
			for cut := range len(text) {
				var out bytes.Buffer
				w := set.Writer(&out, "")
				feed(t, w, "body: "+text[:cut], 3)
				if err := w.Cut(); err != nil {
					t.Fatal(err)
				}
				kept, ok := strings.CutPrefix(out.String(), "body: ")
				if !ok {
					t.Fatalf("%s cut at %d: the text before is not intact: %q", form, cut, out.String())
				}
				kept, masked := strings.CutSuffix(kept, mask.Mask(name))
				if len(kept) >= 8 || cut >= 8 && !masked {
					t.Errorf("%s cut at %d: %q stays", form, cut, kept)
				}
				if masked && w.Report().Redactions[name] != 1 {
					t.Errorf("%s cut at %d: report %v", form, cut, w.Report())
				}
			}
		}
	}
}

func TestCloseKeepsAPrefix(t *testing.T) {
	s := odd(t)
	set := mask.NewSet(named(s))
	for cut := range len(s) {
		if got, r := filter(t, set, "x"+s[:cut], 3); got != "x"+s[:cut] || r.Total() != 0 {
			t.Errorf("%q became %q", s[:cut], got)
		}
	}
}

// What cannot be part of a secret is not held back.
func TestNothingIsHeldBackWithoutNeed(t *testing.T) {
	var out bytes.Buffer
	w := mask.NewSet(named(odd(t))).Writer(&out, "")
	feed(t, w, "progress: 10%..\n", 100)
	if got := out.String(); got != "progress: 10%..\n" {
		t.Errorf("only %q was passed on", got)
	}
}

// The first character of a secret may be the last digit of its own escape.
func TestEscapeThatEndsLikeItself(t *testing.T) {
	set := mask.NewSet(named("0-secret-ABCDEFGH", "3+secret-ABCDEFGH"))
	m, m1 := mask.Mask(name), mask.Mask(name+"-1")
	for in, want := range map[string]string{
		"x %30-secret-ABCDEFGH":        "x " + m,
		"x &#48;-secret-ABCDEFGH":      "x " + m,
		`x \u0030-secret-ABCDEFGH`:     "x " + m,
		`x \u0033%20secret-ABCDEFGH%2`: "x " + m1 + "%2",
		"x %33+secret-ABCDEFGH%":       "x " + m1 + "%",
	} {
		if got, _ := filter(t, set, in, 100); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// An encoded secret goes on behind one line end, not behind empty lines, however
// much of it stands before them.
func TestLineEndsInEncodings(t *testing.T) {
	set := mask.NewSet(named(odd(t)))
	for _, text := range []string{whole(odd(t))["base64"], whole(odd(t))["hex"]} {
		for at := 1; at < len(text)-4; at++ { // the last group may be in part padding
			for end, masked := range map[string]bool{"\n": true, "\r\n": true, "\n\n": true, "\n\n\n": false, "\r\n\r\n": false} {
				in := "x: " + text[:at] + end + text[at:]
				got, r := filter(t, set, in, 64)
				if masked != (r.Total() == 1) {
					t.Errorf("%q became %q", in, got)
				}
			}
		}
	}
}

// Line ends count on the fast path and beside it, and where one follows the
// other: here because another secret matches up to there.
func TestLineEndsBetweenPaths(t *testing.T) {
	for _, other := range []string{"aaaa bbbb U\nand a second 0123", "U\n\n\nabcdefghijklm0123"} {
		set := mask.NewSet(named(odd(t), other))
		begin, _, _ := strings.Cut(other, "\n")
		in := begin + "\n\n\n" + whole(odd(t))["base64"][1:]
		if got, _ := filter(t, set, in, 64); got != in {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestOverlap(t *testing.T) {
	a, b, c := "abcdefghijklmnop", "abcdefghijklmnopqrstuvwx", "mnopqrstuvwxyz012345"
	set := mask.NewSet(named(a, b, c))
	ma, mb, mc := mask.Mask(name), mask.Mask(name+"-1"), mask.Mask(name+"-2")
	for in, want := range map[string]string{
		a:                         ma,
		a + "q":                   ma + "q",
		b:                         mb,
		a + a:                     ma + ma,
		a + b:                     ma + mb,
		b + a:                     mb + ma,
		c:                         mc,
		a + "qrstuvwxyz012345":    mb,
		"abcdefghijkl" + c + "!":  mb + "!",
		"bcdefghijkl" + c:         "bcdefghijkl" + mc,
		"abcdefghijklmno" + a:     "abcdefghijklmno" + ma,
		a[:15] + "." + a + "qrst": a[:15] + "." + ma + "qrst",
	} {
		for chunk := 1; chunk < 6; chunk++ {
			if got, _ := filter(t, set, in, chunk); got != want {
				t.Errorf("%q in pieces of %d became %q, want %q", in, chunk, got, want)
			}
		}
	}
}

func TestWeakIsReportedNotMasked(t *testing.T) {
	weak := `hunter2&"x`
	set := mask.NewSet([]mask.Named{
		{Name: "db", Secret: secret.New([]byte(weak))},
		{Name: "db", Secret: secret.New([]byte("strong-Secret-0123456789"))},
		{Name: "rep", Secret: secret.New(bytes.Repeat([]byte("abc"), 20))},
		{Name: "none", Secret: secret.New([]byte{})},
		{Name: "nil"},
	})
	if !set.Weak("db") || !set.Weak("rep") || set.Weak("none") || set.Weak("nil") || set.Weak("other") {
		t.Error("Weak is wrong")
	}
	for form, text := range whole(weak) {
		text = "<<" + text + ">>"
		for _, inUse := range []string{"db", "rep", ""} {
			got, r := set.String(text, inUse)
			if got != text || r.Total() != 0 || r.WeakSeen != (inUse == "db") {
				t.Errorf("%s of a weak secret, %q in use: %q, %+v", form, inUse, got, r)
			}
		}
		if n, ok := set.Contains([]byte(text)); ok {
			t.Errorf("Contains says %q for a weak secret", n)
		}
	}
	for text, want := range map[string]bool{weak: true, weak[:7]: true, weak[:3]: false, "other text": false} {
		w := set.Writer(&bytes.Buffer{}, "db")
		feed(t, w, "a: "+text, 3)
		if err := w.Cut(); err != nil || w.Report().WeakSeen != want {
			t.Errorf("%q at a cut: %v, %+v", text, err, w.Report())
		}
	}
	if got, r := set.String("strong-Secret-0123456789", "db"); got != mask.Mask("db") || r.WeakSeen {
		t.Errorf("strong secret beside a weak one: %q, %+v", got, r)
	}
	if _, r := set.String("hunter2&x", "db"); r.WeakSeen {
		t.Error("a part of a weak secret is reported")
	}
}

func TestStrong(t *testing.T) {
	for s, want := range map[string]bool{
		"0123456789abcdef": true, "0123456789abcde": false,
		"0123456780000000": false, "0123456789000000": true,
	} {
		set := mask.NewSet(named(s))
		if _, found := set.Contains([]byte("x" + s)); found != want || set.Weak(name) == want {
			t.Errorf("%q: found %v, weak %v", s, found, set.Weak(name))
		}
	}
}

// A Set that cannot mask lets nothing through.
func TestFailsClosed(t *testing.T) {
	s := odd(t)
	wiped := mask.NewSet(named(s))
	zeroed := mask.Zeroed(wiped)
	if zeroed() {
		t.Fatal("nothing there to wipe")
	}
	wiped.Wipe()
	wiped.Wipe()
	if !zeroed() {
		t.Error("Wipe leaves needles")
	}
	gone := secret.New([]byte(s))
	gone.Wipe()
	for kind, set := range map[string]*mask.Set{
		"wiped": wiped, "nil": nil, "zero": {},
		"of a wiped secret": mask.NewSet([]mask.Named{{Name: name, Secret: gone}}),
	} {
		got, r := set.String("harmless "+s, "")
		if got != mask.Mask("withheld") || !r.Wiped {
			t.Errorf("%s set: %q, %+v", kind, got, r)
		}
		if _, ok := set.Contains([]byte("harmless")); !ok || !set.Weak("x") {
			t.Errorf("%s set: Contains %v, Weak %v", kind, ok, set.Weak("x"))
		}
		var out bytes.Buffer
		w := set.Writer(&out, "")
		if n, err := w.Write([]byte("harmless")); n != 0 || !errors.Is(err, mask.ErrWiped) {
			t.Errorf("%s set: Write returns %d, %v", kind, n, err)
		}
		if err := w.Close(); !errors.Is(err, mask.ErrWiped) || out.Len() != 0 || !w.Report().Wiped {
			t.Errorf("%s set: Close returns %v after %q", kind, err, out.String())
		}
		set.Wipe()
	}
}

func TestWipeUnderAWriter(t *testing.T) {
	s := odd(t)
	set := mask.NewSet(named(s))
	var out bytes.Buffer
	w := set.Writer(&out, "")
	feed(t, w, "a. "+s[:9], 4)
	set.Wipe()
	if _, err := w.Write([]byte(s[9:])); !errors.Is(err, mask.ErrWiped) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Cut(); !errors.Is(err, mask.ErrWiped) || out.String() != "a. " {
		t.Errorf("Cut: %v, after %q", err, out.String())
	}
}

func TestNoSecrets(t *testing.T) {
	set := mask.NewSet(nil)
	if got, r := set.String("100% & \\ text", "x"); got != "100% & \\ text" || r.Total() != 0 || r.WeakSeen || r.Wiped {
		t.Errorf("%q, %+v", got, r)
	}
	if n, ok := set.Contains([]byte("text")); ok {
		t.Errorf("Contains: %q", n)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

type short struct{}

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }

func TestErrorsOfTheDestination(t *testing.T) {
	set := mask.NewSet(named(odd(t)))
	w := set.Writer(failing{os.ErrPermission}, "")
	for range 2 {
		if n, err := w.Write([]byte("text.")); n != 0 || !errors.Is(err, os.ErrPermission) {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	if err := w.Close(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Close: %v", err)
	}
	if _, err := set.Writer(short{}, "").Write([]byte("text.")); err == nil {
		t.Error("a short write is no error")
	}
	w = set.Writer(&bytes.Buffer{}, "")
	if err := errors.Join(w.Close(), w.Close(), w.Cut()); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte("late")); !errors.Is(err, mask.ErrClosed) {
		t.Errorf("Write after Close: %v", err)
	}
}

func TestHasMask(t *testing.T) {
	m := "x" + mask.Mask("api demo") + "y"
	for _, s := range []string{m, url.QueryEscape(m), url.PathEscape(m), "[credential [credential a]", `\u005bcredential a]`} {
		if !mask.HasMask(s) {
			t.Errorf("not seen in %q", s)
		}
	}
	for _, s := range []string{"", "credential x", "[credential x", "[credentials]", "[credential " + strings.Repeat("x", 300) + "]"} {
		if mask.HasMask(s) {
			t.Errorf("seen in %q", s)
		}
	}
	if s := odd(t); !mask.HasMask(first(mask.NewSet(named(s)).String(s, ""))) {
		t.Error("a mask that was put in is not seen")
	}
}

func first(s string, _ mask.Report) string { return s }

func TestConcurrentUse(t *testing.T) {
	s := odd(t)
	set := mask.NewSet(named(s, "hunter2"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				got, r := set.String("a "+s+" b", name+"-1")
				if got != "a "+mask.Mask(name)+" b" && !r.Wiped {
					t.Errorf("%q", got)
				}
				set.Contains([]byte(s))
			}
		})
	}
	wg.Go(set.Wipe)
	wg.Wait()
}
