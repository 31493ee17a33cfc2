package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"executor/internal/daemon"
	"executor/internal/secret"
	"executor/journal"
)

// refusedHome is a home with one refused call, by an agent with an evil tool name.
func refusedHome(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	pass := secret.New([]byte("correct horse"))
	if err := daemon.CreateHome(t.Context(), home, pass, 12); err != nil {
		t.Fatal(err)
	}
	h, err := daemon.OpenHome(t.Context(), home, pass)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, err = h.Journal.Refuse(t.Context(), journal.Activity{ActivityID: "0198a000-0000-7000-8000-000000000001", SessionID: "s",
		Tool: "evil\x1b[2J", RawArgs: "{\"x\": \"\x1b[31m\"}", Outcome: journal.Outcome{Status: journal.Refused, ErrorCode: "INVALID_ARGUMENTS"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// TestPagerAndColour: on a terminal a list goes through the pager, in colour
// where nobody said otherwise, and with nothing in it that a terminal would act on.
func TestPagerAndColour(t *testing.T) {
	home := refusedHome(t)
	pager := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\nexec sed 's/^/paged: /'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const red = "\x1b[31m"
	for name, c := range map[string]struct {
		env           []string
		args          []string
		paged, colour bool
	}{
		"list":        {[]string{"PAGER=" + pager}, []string{"journal", "query"}, true, true},
		"no colour":   {[]string{"PAGER=" + pager, "NO_COLOR=1"}, []string{"journal", "query"}, true, false},
		"no pager":    {[]string{"PAGER=" + pager}, []string{"journal", "query", "--no-pager"}, false, true},
		"cat":         {[]string{"PAGER=cat"}, []string{"journal", "query"}, false, true},
		"JSON":        {[]string{"PAGER=" + pager}, []string{"journal", "query", "-o", "json"}, false, false},
		"jq":          {[]string{"PAGER=" + pager}, []string{"journal", "query", "--jq", ".[].raw_args"}, false, false},
		"CSV":         {[]string{"PAGER=" + pager}, []string{"journal", "query", "-o", "csv"}, false, false},
		"one call":    {[]string{"PAGER=" + pager}, []string{"journal", "show", "0198a000"}, true, false},
		"no such one": {[]string{"PAGER=/nowhere/pager"}, []string{"journal", "query"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			screen := atTerminalWith(t, c.env, home, c.args...).ends(0)
			if got := strings.Contains(screen, "paged: "); got != c.paged {
				t.Errorf("paged %v, want %v:\n%s", got, c.paged, screen)
			}
			if got := strings.Contains(screen, red+"refused"); got != c.colour {
				t.Errorf("coloured %v, want %v:\n%s", got, c.colour, screen)
			}
			own := strings.NewReplacer(red+"refused", "", "\x1b[0m", "").Replace(screen)
			if strings.Contains(own, "\x1b") {
				t.Errorf("the terminal got what an agent sent: %q", screen)
			}
		})
	}
}
