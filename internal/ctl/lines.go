package ctl

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"executor/internal/strictjson"
)

// Bounds of a line, in bytes. What a daemon sends holds whole requests.
const (
	maxHello     = 4 << 10
	maxToDaemon  = 256 << 10
	maxToCommand = 96 << 20
)

// Time limits.
const (
	// helloTime is how long the other end may take to prove itself or to send a command.
	helloTime = 10 * time.Second
	// writeTime is how long it may leave what was sent to it unread.
	writeTime = 10 * time.Second
)

var errLong = errors.New("line too long")

// lines reads and writes the lines of one connection. Reading has one caller at a time, and so has writing.
type lines struct {
	net.Conn
	in *bufio.Reader
}

func newLines(c net.Conn) *lines { return &lines{c, bufio.NewReader(c)} }

// line reads one line of at most limit bytes.
func (l *lines) line(limit int) ([]byte, error) {
	var out []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if len(out)+len(part) > limit {
			return nil, errLong
		}
		out = append(out, part...)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// read reads one line as v.
func (l *lines) read(v any, limit int) error {
	raw, err := l.line(limit)
	if err != nil {
		return err
	}
	return strictjson.Decode(raw, v)
}

func (l *lines) write(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	return l.send(append(raw, '\n'))
}

func (l *lines) send(raw []byte) error {
	if err := l.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	_, err := l.Conn.Write(raw)
	return err
}
