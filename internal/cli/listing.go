package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
)

// A listing is where a table goes: the output itself, or a pager on a terminal.
type listing struct {
	io.Writer
	width int  // of the terminal, 0 for none
	color bool // a terminal, and NO_COLOR is not set
	// truth is what a jq expression came to in the end, as jq --exit-status has it.
	truth bool
	pager *exec.Cmd
	pipe  io.WriteCloser
}

// listing opens the output for a list. It must be closed. The pager gets text
// that was made safe, and may be left before the end.
func (a *app) listing(ctx context.Context, page bool) *listing {
	l := &listing{Writer: a.Out, width: terminalWidth(a.Out)}
	l.color = l.width > 0 && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
	if l.width == 0 || !page || !isTerminal(a.In) {
		return l
	}
	command := a.Getenv("PAGER")
	if command == "" {
		command = "less"
	}
	words := strings.Fields(command)
	if len(words) == 0 || words[0] == "cat" {
		return l
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = a.Out, a.Err
	// Colours as they are, and no page for what fits the screen; what the person set wins.
	cmd.Env = append([]string{"LESS=FRX"}, cmd.Environ()...)
	pipe, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return l // without a pager the list is still one
	}
	l.Writer, l.pager, l.pipe = pipe, cmd, pipe
	return l
}

// close waits for the pager. That a person left it early is no error.
func (l *listing) close() error {
	if l.pager == nil {
		return nil
	}
	err := l.pipe.Close()
	if errors.Is(err, syscall.EPIPE) {
		err = nil
	}
	if wait := l.pager.Wait(); wait != nil {
		err = errors.Join(err, fmt.Errorf("the pager: %w", wait))
	}
	return err
}

// Write lets a person leave the pager before the end.
func (l *listing) Write(b []byte) (int, error) {
	n, err := l.Writer.Write(b)
	if l.pager != nil && errors.Is(err, syscall.EPIPE) {
		return len(b), nil
	}
	return n, err
}

// paint gives a status its colour.
func (l *listing) paint(name, cell, padded string) string {
	if !l.color || name != "status" && name != "decision" {
		return padded
	}
	word, _, _ := strings.Cut(strings.TrimSpace(cell), " ")
	code := map[string]string{"ok": "32", "allowed": "32", "error": "31", "refused": "31", "denied": "31", "timeout": "31",
		"no_approver": "31", "unknown": "35", "running": "33", "cancelled": "33", "expired": "33", "changed": "33"}[word]
	if code == "" {
		return padded
	}
	return "\x1b[" + code + "m" + padded + "\x1b[0m"
}
