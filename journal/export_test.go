package journal

import (
	"context"
	"os"
)

// What only the tests may reach.
var RefusedArgs = refusedArgs

const MaxRefusedArgs = maxRefusedArgs

// ParsePin parses a pin line and formats it again.
func ParsePin(b []byte) (size int64, again []byte, err error) {
	c, err := parsePin(b)
	if err != nil {
		return 0, nil, err
	}
	return c.size, formatPin(c), nil
}

// ParseCheckpoint parses a checkpoint's text and formats it again.
func ParseCheckpoint(text, origin string) (again string, err error) {
	c, err := parseCheckpoint(text, origin)
	if err != nil {
		return "", err
	}
	return c.text(origin), nil
}

// DecodeBody decodes stored bytes and encodes them again.
func DecodeBody(raw []byte) ([]byte, error) {
	b, _, err := decodeBody(raw)
	if err != nil {
		return nil, err
	}
	return b.encode()
}

// SaltedHash is what stands in a body for a text.
func SaltedHash(salt []byte, field string, value []byte) string {
	return text{field, salt, value}.hash()
}

// FormatPin returns the pin line of a head.
func FormatPin(size int64, root [32]byte) []byte { return formatPin(checkpoint{size, root}) }

// Pragma reads a pragma of the connection that writes.
func (j *Journal) Pragma(name string) (value string, err error) {
	j.queue.turn <- struct{}{}
	defer func() { <-j.queue.turn }()
	err = j.conn.QueryRowContext(context.Background(), "PRAGMA "+name).Scan(&value)
	return value, err
}

// AdvancePin advances the pin in f to a head.
func AdvancePin(f *os.File, size int64, root [32]byte) error {
	return advancePin(f, checkpoint{size, root})
}
