package httprun

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
)

// maxCodings is how many content codings on top of each other are undone.
const maxCodings = 3

// A decoder is the body without its content codings (RFC 9110, section 8.4.1).
type decoder struct {
	io.Reader
	under *source
	name  string // of the codings that were undone, or ""
}

// A source remembers how the body itself ended, to tell a broken connection
// from damaged data.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil {
		s.err = err
	}
	return n, err
}

// damaged reports whether err comes from the data and not from the connection.
func (d *decoder) damaged(err error) bool {
	return d.name != "" && err != nil && (d.under.err == nil || d.under.err == io.EOF)
}

// decoded undoes gzip, deflate and br and takes them off the header. Any other
// coding is passed on as it is, under its own header.
func decoded(answer *http.Response) *decoder {
	d := &decoder{under: &source{from: answer.Body}}
	d.Reader = d.under
	if len(answer.Header["Content-Encoding"]) == 0 {
		return d
	}
	codings := strings.FieldsFunc(strings.ToLower(strings.Join(answer.Header["Content-Encoding"], ",")), func(r rune) bool { return r == ',' || r == ' ' })
	if len(codings) == 0 || len(codings) > maxCodings {
		return d
	}
	var opens []func(io.Reader) (io.Reader, error)
	for _, c := range codings {
		open := openers(c)
		if open == nil {
			return d
		}
		opens = append(opens, open)
	}
	for i := len(opens) - 1; i >= 0; i-- { // the last applied comes off first
		d.Reader = &late{from: d.Reader, open: opens[i]}
	}
	d.name = strings.Join(codings, ", ")
	answer.Header.Del("Content-Encoding")
	answer.Header.Del("Content-Length")
	return d
}

func openers(coding string) func(io.Reader) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		return inflate
	case "br":
		return func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }
	case "identity":
		return func(r io.Reader) (io.Reader, error) { return r, nil }
	}
	return nil
}

// inflate takes the zlib format that the name means, and the bare one that some
// servers send under it.
func inflate(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(b)
	}
	return flate.NewReader(b), nil
}

// late begins to decode at the first Read; a body without a byte is empty.
type late struct {
	from io.Reader
	open func(io.Reader) (io.Reader, error)
	to   io.Reader
}

func (l *late) Read(p []byte) (int, error) {
	if l.to == nil {
		b := bufio.NewReader(l.from)
		if _, err := b.Peek(1); err != nil {
			return 0, err
		}
		to, err := l.open(b)
		if err != nil {
			return 0, err
		}
		l.to = to
	}
	return l.to.Read(p)
}
