package demo

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"

	"executor/approval/console"
	"executor/internal/daemon"
	"executor/internal/secret"

	"github.com/creack/pty"
)

// serve is executor serve, with its approval screen on the operator's terminal or,
// with Yes, on one of the demo's own.
func (s *story) serve(ctx context.Context, home *daemon.Home, ready func()) error {
	return daemon.Serve(ctx, daemon.Config{
		Home: home, Build: s.Build, Ready: ready, Terminal: s.screen,
	})
}

func (s *story) screen(ctx context.Context, seat console.Seat) error {
	terminal := s.Terminal
	if s.Yes {
		master, slave, err := pty.Open()
		if err != nil {
			seat.Close()
			return err
		}
		done := make(chan struct{})
		// The copier ends when the terminal hangs up at its other end.
		defer func() { slave.Close(); <-done; master.Close() }()
		if err := pty.Setsize(master, &pty.Winsize{Rows: 60, Cols: 80}); err != nil {
			return err
		}
		go func() { defer close(done); sayYes(master, s.Out) }()
		terminal = slave
	}
	c, err := console.New(console.Options{Terminal: terminal, Passphrase: func(*secret.Secret) error { return os.ErrPermission }})
	if err != nil {
		seat.Close()
		return err
	}
	return c.Run(ctx, seat)
}

var (
	lastPage  = regexp.MustCompile(`[a-z0-9]+ y, [^\n]* or b> $`)
	otherPage = regexp.MustCompile(`[a-z0-9]+ Space: next[^\n]*> $`)
)

// sayYes copies the screen and types like an operator who reads to the end and
// agrees.
func sayYes(master *os.File, out io.Writer) {
	var line []byte
	buf := make([]byte, 4096)
	for {
		n, err := master.Read(buf)
		if err != nil {
			return
		}
		text := bytes.ReplaceAll(buf[:n], []byte("\r\n"), []byte("\n"))
		if _, err := out.Write(text); err != nil {
			return
		}
		if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
			line = line[:0]
			text = text[i+1:]
		}
		line = append(line, text...)
		typed := ""
		switch {
		case lastPage.Match(line):
			typed = "y\n"
		case otherPage.Match(line):
			typed = " "
		}
		if _, err := io.WriteString(master, typed); err != nil {
			return
		}
	}
}
