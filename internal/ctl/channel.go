package ctl

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"executor/internal/strictjson"
)

// A channel is a connection whose ends have proved themselves. Reading has one
// caller at a time; sending is safe for concurrent use.
type channel struct {
	*lines
	agreed agreement
	limit  int // of a line that comes in

	recvKey []byte
	recvSeq uint64

	mu      sync.Mutex
	sendKey []byte
	sendSeq uint64
}

// frame is a line on a channel.
type frame struct {
	Seq  uint64          `json:"seq"`
	MAC  string          `json:"mac"`
	Body json.RawMessage `json:"body"`
}

var errFrame = errors.New("a line is not as it was sent")

func newChannel(l *lines, a agreement, recv, send string, limit int) (*channel, error) {
	in, err := a.derive(recv)
	if err != nil {
		return nil, err
	}
	out, err := a.derive(send)
	if err != nil {
		return nil, err
	}
	return &channel{lines: l, agreed: a, limit: limit, recvKey: in, sendKey: out}, nil
}

// send sends v and returns its number.
func (c *channel) send(v any) (uint64, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("message: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sendBody(body, func(uint64) {})
}

// sendBody sends body; before it leaves, its number is told to note. c.mu is held.
func (c *channel) sendBody(body []byte, note func(uint64)) (uint64, error) {
	c.sendSeq++
	note(c.sendSeq)
	// Put together by hand, so that the bytes under the MAC are the bytes on the line.
	raw := fmt.Appendf(nil, `{"seq":%d,"mac":"%s","body":`, c.sendSeq, mac(c.sendKey, c.sendSeq, body))
	raw = append(append(raw, body...), "}\n"...)
	return c.sendSeq, c.lines.send(raw)
}

// receive reads the next frame into v and returns its number. An error that is not of the
// connection means that somebody meddled or is not to be understood: close.
func (c *channel) receive(v any) (uint64, error) {
	var f frame
	if err := c.lines.read(&f, c.limit); err != nil {
		return 0, err
	}
	c.recvSeq++
	if f.Seq != c.recvSeq || !hmac.Equal([]byte(f.MAC), []byte(mac(c.recvKey, f.Seq, f.Body))) {
		return 0, errFrame
	}
	return f.Seq, strictjson.Decode(f.Body, v)
}

func mac(key []byte, seq uint64, body []byte) string {
	h := hmac.New(sha256.New, key)
	h.Write(binary.BigEndian.AppendUint64(nil, seq))
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}
