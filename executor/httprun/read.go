package httprun

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"executor/executor"
	"executor/internal/target"
)

// What is read of an answer only to be counted, so that its size can be told
// and the connection used again.
const (
	discardBytes = 1 << 20
	discardTime  = 300 * time.Millisecond
)

// read turns the answer into the response, with at most maxBytes of its body,
// and closes it. Beside an error the response holds what came.
func read(at target.URL, answer *http.Response, r redirection, maxBytes int) (*executor.HTTPResponse, error) {
	defer answer.Body.Close()
	out := &executor.HTTPResponse{
		Status: answer.StatusCode, ContentType: answer.Header.Get("Content-Type"),
		Redirect: r.url, Note: r.note, FinalURL: at.String(),
	}
	body := decoded(answer)
	out.Headers = responseHeaders(answer.Header)
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(body, int64(maxBytes)))
	out.Body, out.Total = buf.Bytes(), n
	if err == nil && n == int64(maxBytes) {
		rest, whole := count(body, answer.Body)
		out.Truncated, out.Total = rest > 0 || !whole, n+rest
	}
	if damagedGzip(err) {
		out.Truncated = true
		out.Note = strings.TrimPrefix(out.Note+fmt.Sprintf("; the answer's gzip is damaged after %d bytes", n), "; ")
		return out, nil
	}
	return out, err
}

// count reads on within its bounds. It returns how many bytes it got, and
// whether that was all.
func count(body io.Reader, under io.Closer) (n int64, whole bool) {
	stop := time.AfterFunc(discardTime, func() { under.Close() })
	defer stop.Stop()
	n, err := io.CopyN(io.Discard, body, discardBytes)
	return n, err == io.EOF
}

// discard empties the body of a redirect that is followed.
func discard(body io.ReadCloser) {
	count(body, body)
	body.Close()
}

// decoded returns the body without its gzip, which is also taken off the header.
// Any other encoding is passed on as it is, under its own header.
func decoded(answer *http.Response) io.Reader {
	if !strings.EqualFold(answer.Header.Get("Content-Encoding"), "gzip") || len(answer.Header["Content-Encoding"]) != 1 {
		return answer.Body
	}
	answer.Header.Del("Content-Encoding")
	answer.Header.Del("Content-Length")
	return &gunzip{from: answer.Body}
}

// gunzip begins to decompress at the first Read; a body without a byte is empty.
type gunzip struct {
	from io.Reader
	zr   *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.zr == nil {
		zr, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, err
		}
		g.zr = zr
	}
	return g.zr.Read(p)
}

func damagedGzip(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}
