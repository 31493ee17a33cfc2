package httprun

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
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

// read turns the answer into the response, with at most the action's MaxBytes of
// its body, and closes it. Beside an error the response holds what came.
func (c *call) read(at target.URL, answer *http.Response, r redirection) (*executor.HTTPResponse, error) {
	defer answer.Body.Close()
	maxBytes := int64(c.action.Limits.MaxBytes)
	out := &executor.HTTPResponse{
		Status: answer.StatusCode, ContentType: answer.Header.Get("Content-Type"),
		Redirect: r.url, Note: r.note, FinalURL: at.String(),
	}
	plain := decoded(answer)
	body, converted := toUTF8(plain, out.ContentType)
	out.Headers = responseHeaders(answer.Header, c.action.Cookies)
	var buf bytes.Buffer
	if n := answer.ContentLength; 0 < n && n <= maxBytes {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := io.Copy(&buf, io.LimitReader(body, maxBytes))
	out.Body, out.Total = buf.Bytes(), n
	if err == nil && n == maxBytes {
		rest, whole := count(body, answer.Body)
		out.Truncated, out.Total = rest > 0 || !whole, n+rest
	}
	if n > 0 && converted != "" {
		out.Note = notes(out.Note, converted)
	}
	if plain.damaged(err) {
		out.Truncated = true
		out.Note = notes(out.Note, fmt.Sprintf("the answer's %s is damaged after %d bytes", plain.name, n))
		return out, nil
	}
	out.Truncated = out.Truncated || err != nil
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

// discard empties the body of an answer that is not the last one.
func discard(body io.ReadCloser) {
	count(body, body)
	body.Close()
}
