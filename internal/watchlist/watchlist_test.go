package watchlist_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"executor/internal/watchlist"
)

var some = []watchlist.Server{
	{Name: "github", Stdio: []string{"github-mcp", "--read only"}},
	{Name: "tickets", HTTP: "https://mcp.example.com/mcp", Credential: "tickets"},
}

func TestList(t *testing.T) {
	l := watchlist.List{Dir: filepath.Join(t.TempDir(), "c")}
	if got, err := l.Servers(); err != nil || got != nil {
		t.Errorf("an absent directory holds %v, %v", got, err)
	}
	for _, s := range some {
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := l.Servers(); err != nil || !reflect.DeepEqual(got, some) {
		t.Errorf("got %v, %v", got, err)
	}
	if err := l.Add(some[0]); !errors.Is(err, watchlist.ErrExists) {
		t.Errorf("the same again: %v", err)
	}
	if info, err := os.Stat(filepath.Join(l.Dir, "servers", "github.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := l.Remove("github"); err != nil {
		t.Error(err)
	}
	if err := l.Remove("github"); !errors.Is(err, watchlist.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := l.Server("github"); !errors.Is(err, watchlist.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

func TestSeen(t *testing.T) {
	l := watchlist.List{Dir: t.TempDir()}
	if _, err := l.Seen("github"); !errors.Is(err, watchlist.ErrUnseen) {
		t.Errorf("%v", err)
	}
	for _, hash := range []string{"sha256:aa", "sha256:bb"} {
		if err := l.SetSeen("github", hash); err != nil {
			t.Fatal(err)
		}
		if got, err := l.Seen("github"); err != nil || got != hash {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	l := watchlist.List{Dir: t.TempDir()}
	for _, name := range []string{"", "-x", ".x", "a/b", "..", "a b", "ä", strings.Repeat("a", 65)} {
		_, errServer := l.Server(name)
		_, errSeen := l.Seen(name)
		for _, err := range []error{l.Add(watchlist.Server{Name: name, HTTP: "x"}), l.Remove(name), l.SetSeen(name, "x"), errServer, errSeen} {
			if !errors.Is(err, watchlist.ErrName) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	for _, s := range []watchlist.Server{
		{}, {Stdio: []string{""}}, {Stdio: []string{"x"}, HTTP: "x"}, {Stdio: []string{"x"}, Credential: "c"}, {Credential: "c"},
	} {
		s.Name = "x"
		if err := l.Add(s); err == nil {
			t.Errorf("%+v was added", s)
		}
	}
}

// A file that was edited by hand says what it may or is refused.
func TestDamaged(t *testing.T) {
	l := watchlist.List{Dir: t.TempDir()}
	if err := l.Add(some[0]); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.Dir, "servers", "github.json")
	for _, text := range []string{
		``, `[]`, `{}`, `{"stdio":["a"],"http":"b"}`, `{"stdio":["a"],"env":{"TOKEN":"x"}}`, `{"STDIO":["a"]}`,
		`{"stdio":["a"],"stdio":["b"]}`, `{"stdio":["a"]} x`, `{"stdio":["` + strings.Repeat("a", 64<<10) + `"]}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Servers(); !errors.Is(err, watchlist.ErrDamaged) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}
