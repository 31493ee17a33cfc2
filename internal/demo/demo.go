// Package demo shows the whole product on one machine in a minute, with nothing
// simulated but the world outside: a real vault, a real serve with its approval
// screen, and an agent that speaks MCP through executor mcp. The API and the SSH
// server that the agent acts on are small ones of the demo's own, on loopback.
//
// Everything lives in a temporary home that is removed at the end.
package demo

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"executor/internal/daemon"
	"executor/internal/secret"
	"executor/journal"
)

// Options of a demo.
type Options struct {
	// Binary is the executor program; the agent runs its mcp command.
	Binary string
	// Out gets the story. Where Yes is not set it is the terminal of Terminal.
	Out io.Writer
	// Terminal is where the operator answers, nil with Yes.
	Terminal *os.File
	// Yes answers every request with a yes, on a terminal of the demo's own, which is
	// copied to Out.
	Yes   bool
	Build journal.Build
	// Environ is what the agent's process gets.
	Environ []string
}

// A story is one run.
type story struct {
	Options
	dir   string
	token *secret.Secret // the API's; kept to look for it in what the agent got
	api   *api
	shell *shell
	agent *agent
	got   bytes.Buffer // every byte that the agent was given
}

// Run plays the demo. The home is removed when it returns.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "executor-demo-")
	if err != nil {
		return err
	}
	s := &story{Options: o, dir: filepath.Join(dir, "home")}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := s.downstream(); err != nil {
		return err
	}
	defer s.api.close()
	defer s.shell.close()
	home, err := s.setUp(ctx)
	if err != nil {
		return err
	}
	defer home.Close()
	return s.play(ctx, home)
}

// downstream starts the world that the agent acts on.
func (s *story) downstream() (err error) {
	raw := make([]byte, 20)
	if _, err := rand.Read(raw); err != nil {
		return err
	}
	s.token = secret.New([]byte("demo_" + hex.EncodeToString(raw)))
	if s.api, err = startAPI(s.token); err != nil {
		return err
	}
	s.shell, err = startShell()
	return err
}

// play serves, lets the agent act, and reads the journal.
func (s *story) play(ctx context.Context, home *daemon.Home) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	ready := make(chan struct{})
	go func() { served <- s.serve(serving, home, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-served:
		return err
	}
	err := s.act(ctx)
	stop()
	if err := errors.Join(err, <-served); err != nil {
		return err
	}
	return s.journals(ctx)
}

// chapter begins a part of the story.
func (s *story) chapter(title string) { fmt.Fprintf(s.Out, "\n### %s\n\n", title) }

func (s *story) say(format string, args ...any) {
	fmt.Fprintln(s.Out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}
