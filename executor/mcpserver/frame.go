package mcpserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLineTooLong reports a line that was skipped to its end. The next line can
// be read.
var errLineTooLong = errors.New("line exceeds the limit")

// A lineReader cuts a stream into lines of at most max bytes, without their
// "\n" or "\r\n". A last line without an end counts as a line: an object that
// was cut short is never valid JSON, so nothing is mistaken for a whole one.
type lineReader struct {
	r   *bufio.Reader
	max int
}

func newLineReader(r io.Reader, max int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 32<<10), max: max}
}

// next returns the next line that is not blank; the caller owns it. It returns
// errLineTooLong for one line that exceeds the limit, and the stream's own error
// (io.EOF at its end) for good.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		// One byte more is let in, because it may be the "\r".
		if content := bytes.TrimSuffix(part, []byte("\n")); len(line)+len(content) > l.max+1 {
			return nil, l.skip(err)
		}
		line = append(line, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && (err != io.EOF || len(line) == 0) {
			return nil, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) > l.max {
			return nil, errLineTooLong
		}
		return line, nil
	}
}

// skip drops the rest of a line whose last part was read with err.
func (l *lineReader) skip(err error) error {
	for err == bufio.ErrBufferFull {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil && err != io.EOF {
		return err
	}
	return errLineTooLong
}
