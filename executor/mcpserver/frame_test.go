package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n \r\nc"), 4)
	f.Add([]byte("12345\n1234\r\n12345\r\n1234"), 4)
	f.Add([]byte("\r\r\n\r"), 1)
	f.Add([]byte(strings.Repeat("x", 70_000)+"\nshort\n"), 100)
	f.Add([]byte(strings.Repeat("x", 70_000)), 70_000)
	f.Fuzz(func(t *testing.T, input []byte, max int) {
		if max < 1 {
			max = 1
		}
		want := reference(input, max)
		for name, r := range map[string]io.Reader{
			"whole":  bytes.NewReader(input),
			"halves": iotest.HalfReader(bytes.NewReader(input)),
			"late":   iotest.DataErrReader(bytes.NewReader(input)),
		} {
			lines := newLineReader(r, max)
			for i := 0; ; i++ {
				line, err := lines.next()
				if err == io.EOF {
					if i != len(want) {
						t.Fatalf("%s: %d lines, want %d", name, i, len(want))
					}
					break
				}
				if i >= len(want) {
					t.Fatalf("%s: too many lines: %q, %v", name, line, err)
				}
				if tooLong := errors.Is(err, errLineTooLong); tooLong != (want[i] == nil) || !bytes.Equal(line, want[i]) {
					t.Fatalf("%s: line %d is %q, %v; want %q", name, i, line, err, want[i])
				}
			}
		}
	})
}

// reference cuts lines in the obvious way; nil stands for one too long.
func reference(input []byte, max int) [][]byte {
	var out [][]byte
	for _, line := range bytes.Split(input, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		switch {
		case len(line) > max:
			out = append(out, nil)
		case len(bytes.TrimSpace(line)) > 0:
			out = append(out, line)
		}
	}
	return out
}

func TestLineReaderPassesOnErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, input := range []string{"", "abc", strings.Repeat("x", 100_000)} {
		r := newLineReader(io.MultiReader(strings.NewReader(input), iotest.ErrReader(broken)), 10)
		if _, err := r.next(); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: %v", len(input), err)
		}
	}
}

// A dribble takes a few bytes of each write, and fails after the given number.
type dribble struct {
	bytes.Buffer
	room   int
	closed bool
}

func (d *dribble) Write(p []byte) (int, error) {
	n := min(len(p), 7, d.room)
	d.room -= n
	d.Buffer.Write(p[:n])
	if n == 0 && len(p) > 0 && d.room == 0 {
		return 0, io.ErrClosedPipe
	}
	return n, nil
}

func (d *dribble) Close() error { d.closed = true; return nil }

func never(time.Duration, func()) func() bool { return func() bool { return true } }

func TestPartialWrites(t *testing.T) {
	d := &dribble{room: 1 << 20}
	w := newLineWriter(d, time.Second, never, func() { d.Close() })
	line := strings.Repeat("0123456789", 5000) + "\n"
	if err := w.write(context.Background(), []byte(line)); err != nil {
		t.Fatal(err)
	}
	if d.String() != line || d.closed {
		t.Errorf("%d bytes written of %d, closed %v", d.Len(), len(line), d.closed)
	}
}

func TestNothingFollowsHalfALine(t *testing.T) {
	d := &dribble{room: 10}
	w := newLineWriter(d, time.Second, never, func() { d.Close() })
	if err := w.write(context.Background(), []byte("the first line is cut\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("write: %v", err)
	}
	d.room = 100
	if err := w.write(context.Background(), []byte("second\n")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("second write: %v", err)
	}
	if d.String() != "the first " || !d.closed {
		t.Errorf("written %q, closed %v", d.String(), d.closed)
	}
}

func TestWaitForTheTurnEndsWithTheContext(t *testing.T) {
	d := &dribble{room: 100}
	w := newLineWriter(d, time.Second, never, func() { d.Close() })
	w.turn <- struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	if err := w.write(ctx, []byte("x\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	if d.Len() != 0 || d.closed {
		t.Errorf("written %q, closed %v", d.String(), d.closed)
	}
}
