package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"executor/internal/term"
)

// serverWords passes on what a server's command says on standard error: line by
// line, made safe, marked as the server's, and bounded. It never fails or blocks the
// server.
type serverWords struct {
	out   io.Writer
	mu    sync.Mutex
	line  []byte
	lines int
}

const maxWordLines, maxWordBytes = 40, 500

func (w *serverWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 && w.lines < maxWordLines {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		w.line = append(w.line, part[:min(len(part), maxWordBytes-len(w.line))]...)
		p = rest
		if ended {
			w.say()
		}
	}
	return n, nil
}

func (w *serverWords) say() {
	fmt.Fprintln(w.out, "server: "+term.Safe(string(bytes.TrimRight(w.line, "\r"))))
	w.line = w.line[:0]
	if w.lines++; w.lines == maxWordLines {
		fmt.Fprintln(w.out, "server: (it says more, which is left out)")
	}
}

// webTransport carries requests to MCP servers. A proxy of the environment is used.
func webTransport() http.RoundTripper {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:    15 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		IdleConnTimeout:        30 * time.Second,
		ForceAttemptHTTP2:      true,
	}
}

// readLimited reads a file of at most limit bytes.
func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes", path, limit)
	}
	return raw, err
}
