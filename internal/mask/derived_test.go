package mask_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"executor/internal/mask"
	"executor/internal/secret"
)

const held, token = "h3ld-Secret-0a1b2c3d4e", "t0ken-Derived-9f8e7d6c5b"

func derivedSet(d *mask.Derived) *mask.Set {
	return mask.NewSet([]mask.Named{{Name: "api", Secret: secret.New([]byte(held))}}).WithDerived(d)
}

func TestDerivedSecretsAreMaskedFromThenOn(t *testing.T) {
	var d mask.Derived
	early, late := derivedSet(&d), derivedSet(&d)
	if out, _ := early.String("x "+token, "api"); out != "x "+token {
		t.Fatalf("%q", out)
	}
	if !early.Learn("api", secret.New([]byte(token))) {
		t.Fatal("not learned")
	}
	for name, s := range map[string]*mask.Set{"the set that was told": early, "one that shares": late, "one made later": derivedSet(&d)} {
		out, report := s.String(held+" and "+token, "api")
		if out != "[credential api] and [credential api]" || report.Total() != 2 || report.Redactions["api"] != 2 {
			t.Errorf("%s: %q, %v", name, out, report)
		}
		if who, found := s.Contains([]byte("x" + token)); !found || who != "api" {
			t.Errorf("%s: Contains says %q, %v", name, who, found)
		}
	}
	if alone := mask.NewSet(nil); alone.Learn("api", secret.New([]byte(token))) {
		t.Error("a set without Derived says that it learned")
	}
}

func TestDerivedAcrossEveryBorderAndCut(t *testing.T) {
	var d mask.Derived
	s := derivedSet(&d)
	s.Learn("api", secret.New([]byte(token)))
	text := "a " + token + " b " + held + " c"
	for i := range len(text) {
		var out bytes.Buffer
		w := s.Writer(&out, "api")
		w.Write([]byte(text[:i]))
		w.Write([]byte(text[i:]))
		if err := w.Close(); err != nil || out.String() != "a [credential api] b [credential api] c" {
			t.Fatalf("cut at %d: %q, %v", i, out.String(), err)
		}
	}
	var out bytes.Buffer
	w := s.Writer(&out, "api")
	w.Write([]byte("a " + token[:12]))
	if err := w.Cut(); err != nil || strings.Contains(out.String(), token[:8]) {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, mask.ErrClosed) {
		t.Errorf("a write after the end: %v", err)
	}
}

func TestAWeakTokenIsReported(t *testing.T) {
	var d mask.Derived
	s := derivedSet(&d)
	s.Learn("api", secret.New([]byte("short1")))
	if _, report := s.String("x short1 y", "api"); !report.WeakSeen {
		t.Error("a weak token of the credential in use passed unseen")
	}
	if _, report := s.String("x short1 y", "other"); report.WeakSeen {
		t.Error("a weak token is an oracle for other credentials")
	}
}

// TestTheNewestAreKept: each credential has its own four.
func TestTheNewestAreKept(t *testing.T) {
	var d mask.Derived
	s := derivedSet(&d)
	s.Learn("other", secret.New([]byte("0ther-Derived-9f8e7d6c5b")))
	for i := range 6 {
		s.Learn("api", secret.New(fmt.Appendf(nil, "%s-%d", token, i)))
	}
	out, _ := s.String(fmt.Sprintf("%s-1 %s-2 %s-5 0ther-Derived-9f8e7d6c5b", token, token, token), "")
	if out != token+"-1 [credential api] [credential api] [credential other]" {
		t.Errorf("%q", out)
	}
}

func TestDerivedIsWiped(t *testing.T) {
	var d mask.Derived
	s := derivedSet(&d)
	s.Learn("api", secret.New([]byte(token)))
	var out bytes.Buffer
	w := s.Writer(&out, "api")
	w.Write([]byte("a " + token[:10]))
	d.Wipe()
	if err := w.Close(); !errors.Is(err, mask.ErrWiped) || strings.Contains(out.String(), token[:10]) {
		t.Errorf("%q, %v", out.String(), err)
	}
	if got, _ := derivedSet(&d).String(token, "api"); got != token {
		t.Errorf("it is still known: %q", got)
	}
}

func TestDerivedAtOnce(t *testing.T) {
	var d mask.Derived
	s := derivedSet(&d)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			one := fmt.Sprintf("%s-%d", token, i)
			s.Learn(fmt.Sprint("c", i), secret.New([]byte(one)))
			if out, _ := s.String(one, ""); out != fmt.Sprintf("[credential c%d]", i) {
				t.Errorf("%q", out)
			}
		})
	}
	wg.Wait()
}
