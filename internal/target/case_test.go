package target_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"executor/internal/target"
)

// caseURLs reads the URLs of a case file by their request id.
func caseURLs(t testing.TB, file string) map[int]string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	urls := map[int]string{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	for lines.Scan() {
		var line struct {
			ID     int
			Params struct{ Arguments struct{ URL string } }
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if u := line.Params.Arguments.URL; u != "" {
			urls[line.ID] = u
		}
	}
	return urls
}

// A credential bound to https://api.example.test is attached for exactly that
// origin; whatever else is refused names the host that was really meant.
func TestCaseHosts(t *testing.T) {
	bound := mustPattern(t, "https://api.example.test")
	want := map[int]struct {
		bound bool
		says  string // in the error, or the host when there is none
	}{
		1: {says: "evil.test"}, 2: {says: "evil.test"}, 3: {says: "evil.test"}, 4: {says: "evil.test"},
		5: {bound: true, says: "api.example.test"}, 6: {bound: true, says: "api.example.test"}, 7: {bound: true, says: "api.example.test"},
		8: {says: "api.example.test"}, 9: {says: "api.example.test"},
		10: {says: "api.example.test"}, 11: {says: "api.example.test"},
		12: {says: "api.example.test.evil.test"}, 13: {says: "notapi.example.test"}, 14: {says: "evil.test"},
	}
	urls := caseURLs(t, "testdata/http-04.jsonl")
	if len(urls) != len(want) {
		t.Fatalf("%d lines, %d expectations", len(urls), len(want))
	}
	for id, raw := range urls {
		u, err := target.Parse(raw)
		said := u.Host()
		if err != nil {
			said = err.Error()
		}
		if bound.MatchURL(u) != want[id].bound || !strings.Contains(said, want[id].says) {
			t.Errorf("%d %s: bound %v, %q", id, raw, bound.MatchURL(u), said)
		}
		if err != nil && strings.Contains(said, "pw") {
			t.Errorf("%d: the error repeats the password: %s", id, said)
		}
	}
}

// Under the prefix /v1/read/ only lines 1, 8 and 12 may pass; 8 has a dot
// segment, which is refused.
func TestCasePaths(t *testing.T) {
	bound := mustPattern(t, "http://127.0.0.1:18080/v1/read/")
	pass := map[int]string{
		1:  "http://127.0.0.1:18080/v1/read/items",
		12: "http://127.0.0.1:18080/v1/read/items?next=/../../admin",
	}
	outside := map[int]bool{7: true, 11: true} // well-formed, but elsewhere
	urls := caseURLs(t, "testdata/http-05.jsonl")
	if len(urls) != 12 {
		t.Fatalf("%d lines", len(urls))
	}
	for id, raw := range urls {
		u, err := target.Parse(raw)
		if bound.MatchURL(u) != (pass[id] != "") || pass[id] != "" && u.String() != pass[id] {
			t.Errorf("%d %s: %v, matched %v", id, raw, u, bound.MatchURL(u))
		}
		if (err == nil) != (pass[id] != "" || outside[id]) {
			t.Errorf("%d %s: error %v", id, raw, err)
		}
	}
}

// Every spelling of a metadata, link-local or unspecified address is refused by
// Parse or judged Never; loopback in a hidden spelling is refused.
func TestCaseMetadataHosts(t *testing.T) {
	loopback := map[int]bool{14: true, 15: true}
	unspecified := map[int]bool{12: true, 13: true}
	urls := caseURLs(t, "testdata/http-08.jsonl")
	if len(urls) != 17 {
		t.Fatalf("%d lines", len(urls))
	}
	for id, raw := range urls {
		u, err := target.Parse(raw)
		verdict, known := u.Judge()
		why := verdict.Why()
		switch {
		case loopback[id]:
			if err == nil || !strings.Contains(err.Error(), "127.0.0.1 (a loopback address)") {
				t.Errorf("%d %s: %v", id, raw, err)
			}
			continue
		case err != nil:
			why = err.Error()
			if !errors.Is(err, target.ErrNever) {
				t.Errorf("%d %s: %v is not ErrNever", id, raw, err)
			}
		case !known || verdict.Class() != target.Never:
			t.Errorf("%d %s: %v %v", id, raw, verdict.Class(), why)
		}
		wantWhy := "link-local"
		if unspecified[id] {
			wantWhy = "unspecified address"
		}
		if !strings.Contains(why, wantWhy) {
			t.Errorf("%d %s: %q does not say %s", id, raw, why, wantWhy)
		}
		if _, err := target.ParsePattern(raw); err == nil {
			t.Errorf("%d %s can be bound", id, raw)
		}
	}
}

func mustParse(t testing.TB, raw string) target.URL {
	t.Helper()
	u, err := target.Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return u
}

func mustPattern(t testing.TB, s string) target.Pattern {
	t.Helper()
	p, err := target.ParsePattern(s)
	if err != nil {
		t.Fatalf("ParsePattern(%q): %v", s, err)
	}
	return p
}
