package mcpclient

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// A filter is a reader that gives a stream on frame by frame, each through the tap.
type filter struct {
	src     *bufio.Reader
	next    func(*filter) ([]byte, error)
	tap     *tap
	limit   int
	pending []byte
}

func (f *filter) Read(p []byte) (int, error) {
	for len(f.pending) == 0 {
		frame, err := f.next(f)
		if err != nil {
			return 0, err
		}
		f.pending = frame
	}
	n := copy(p, f.pending)
	f.pending = f.pending[n:]
	return n, nil
}

// newLines filters messages that stand on a line each (MCP, Transports, stdio). Lines
// that begin no message, such as a banner, are dropped, as other clients do.
func newLines(r io.Reader, t *tap, limit int) *filter {
	return &filter{src: bufio.NewReader(r), tap: t, limit: limit, next: func(f *filter) ([]byte, error) {
		for {
			line, err := f.line(f.limit)
			if err != nil {
				return nil, err
			}
			line = bytes.TrimSpace(line)
			if len(line) > 0 && (line[0] == '{' || line[0] == '[') {
				return append(f.tap.received(line), '\n'), nil
			}
		}
	}}
}

// newEvents filters server-sent events (WHATWG HTML, section 9.2), whose data is a
// message each.
func newEvents(r io.Reader, t *tap, limit int) *filter {
	return &filter{src: bufio.NewReader(r), tap: t, limit: limit, next: (*filter).event}
}

// event reads the lines up to an empty one. Lines of data become one.
func (f *filter) event() ([]byte, error) {
	var out, data []byte
	found := false
	for size := 0; ; {
		line, err := f.line(f.limit - size)
		if err != nil {
			return nil, err
		}
		size += len(line)
		line = bytes.TrimRight(line, "\r\n")
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		switch {
		case isData:
			if found {
				data = append(data, '\n')
			}
			data, found = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		case len(line) > 0:
			out = append(append(out, line...), '\n')
		case !found:
			return append(out, '\n'), nil
		default:
			return appendData(out, f.tap.received(data)), nil
		}
	}
}

func appendData(out, data []byte) []byte {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		out = append(append(append(out, "data: "...), line...), '\n')
	}
	return append(out, '\n')
}

// line reads one line of at most limit bytes, with its end. A last line that has
// none is given on as well.
func (f *filter) line(limit int) ([]byte, error) {
	var out []byte
	for {
		part, err := f.src.ReadSlice('\n')
		if len(out)+len(part) > limit {
			return nil, f.tap.fail(fmt.Errorf("%w: a message of more than %d bytes", ErrTooLarge, f.limit))
		}
		out = append(out, part...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(out) > 0, err == nil:
			return out, nil
		default:
			return nil, err
		}
	}
}
