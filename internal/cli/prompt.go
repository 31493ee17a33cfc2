package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"executor/internal/secret"

	xterm "golang.org/x/term"
)

// errInterrupted is the answer of a person who pressed Ctrl-C at a prompt.
var errInterrupted = errors.New("interrupted; nothing was changed")

// openTTY opens the controlling terminal. Reads from it end with the program's context.
func (a *app) openTTY() (tty *os.File, closeTTY func(), err error) {
	tty, err = os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	// The program catches signals, so Ctrl-C does not end a read by itself.
	stop := context.AfterFunc(a.Context, func() { _ = tty.SetReadDeadline(time.Unix(1, 0)) })
	return tty, func() { stop(); tty.Close() }, nil
}

// askHidden asks at the controlling terminal, without echo. Without a terminal,
// instead names what to give instead.
func (a *app) askHidden(prompt, instead string) (*secret.Secret, error) {
	tty, closeTTY, err := a.openTTY()
	if err != nil {
		return nil, usagef("no terminal to ask at; %s", instead)
	}
	defer closeTTY()
	restore, err := makeRaw(tty)
	if err != nil {
		return nil, fmt.Errorf("the terminal cannot hide what is typed: %w", err)
	}
	fmt.Fprint(tty, prompt)
	b, err := readHidden(tty)
	restore()
	fmt.Fprintln(tty)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, errInterrupted
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, errors.New("nothing was typed; nothing was changed")
	}
	return secret.New(b), nil
}

// makeRaw takes echo, line editing and signal keys away from the terminal. It
// leaves the descriptor's mode alone, on which the deadline of reads depends.
func makeRaw(tty *os.File) (restore func(), err error) {
	raw, err := tty.SyscallConn()
	if err != nil {
		return nil, err
	}
	var old *xterm.State
	control := func(fn func(fd int) error) error {
		inner := error(nil)
		return errors.Join(raw.Control(func(fd uintptr) { inner = fn(int(fd)) }), inner)
	}
	err = control(func(fd int) (err error) { old, err = xterm.MakeRaw(fd); return err })
	if err != nil {
		return nil, err
	}
	return func() { _ = control(func(fd int) error { return xterm.Restore(fd, old) }) }, nil
}

// readHidden reads one line from a raw terminal. Backspace and Ctrl-U correct,
// Ctrl-C is errInterrupted. The room is taken at once, so that no copy of what was
// typed stays behind.
func readHidden(r io.Reader) ([]byte, error) {
	line, b := make([]byte, 0, maxSecret), make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, b); err != nil {
			clear(line)
			return nil, err
		}
		switch b[0] {
		case '\r', '\n', 0x04: // Ctrl-D
			return line, nil
		case 0x03: // Ctrl-C
			clear(line)
			return nil, errInterrupted
		case 0x08, 0x7f:
			_, n := utf8.DecodeLastRune(line)
			line = line[:len(line)-n]
		case 0x15: // Ctrl-U
			line = line[:0]
		default:
			if len(line) == cap(line) {
				clear(line)
				return nil, fmt.Errorf("more than %d bytes were typed", maxSecret)
			}
			line = append(line, b[0])
		}
	}
}

// confirm asks a yes or no question at the terminal; --yes answers it.
func (a *app) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	tty, closeTTY, err := a.openTTY()
	if err != nil {
		return usagef("no terminal to ask: %s (--yes goes on without asking)", question)
	}
	defer closeTTY()
	fmt.Fprint(tty, question+" [y/N] ")
	line, err := readLine(tty)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		fmt.Fprintln(tty)
		return errInterrupted
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case line != "y" && line != "yes":
		return errors.New("not confirmed; nothing was changed")
	}
	return nil
}

// readLine reads one line byte by byte, so that nothing behind it is taken. A
// line that the input's end cuts short is returned with io.EOF and counts for nothing.
func readLine(r io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for len(line) < maxPassphrase {
		n, err := r.Read(b)
		if n == 1 && b[0] == '\n' {
			break
		}
		line = append(line, b[:n]...)
		if err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(string(line)), nil
}
