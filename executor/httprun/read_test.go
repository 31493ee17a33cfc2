package httprun_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"executor/executor"
	"executor/executor/httprun"
	"executor/internal/action"
)

// An answer is what the server of answering sends to every request.
type answer struct {
	contentType, coding string
	body                []byte
}

// answering sends one answer and reads it through the runner.
func answering(t *testing.T, a answer, limit int) result {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", a.contentType)
		if a.coding != "" {
			w.Header().Set("Content-Encoding", a.coding)
		}
		w.Write(a.body)
	}))
	defer srv.Close()
	act := get(srv.URL+"/", nil)
	act.Limits = action.Limits{Timeout: 10 * time.Second, MaxBytes: limit}
	r := httprun.New(httprun.Config{})
	defer r.Close()
	return run(t.Context(), r, act, nil)
}

func pack(t *testing.T, coding string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zlib":
		w = zlib.NewWriter(&out)
	case "flate":
		w, _ = flate.NewWriter(&out, 6)
	case "br":
		w = brotli.NewWriter(&out)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestContentCodings(t *testing.T) {
	text := []byte(strings.Repeat("hello, world. ", 50))
	for name, a := range map[string]answer{
		"gzip": {"text/plain", "gzip", pack(t, "gzip", text)}, "x-gzip": {"text/plain", "X-GZIP", pack(t, "gzip", text)},
		"deflate": {"text/plain", "deflate", pack(t, "zlib", text)}, "bare deflate": {"text/plain", "deflate", pack(t, "flate", text)},
		"br": {"text/plain", "br", pack(t, "br", text)}, "two": {"text/plain", "br, gzip", pack(t, "gzip", pack(t, "br", text))},
		"none": {"text/plain", "identity", text},
	} {
		got := answering(t, a, 1<<20)
		if got.err != nil || !bytes.Equal(got.Body, text) || got.Truncated || got.Total != int64(len(text)) {
			t.Errorf("%s: %v, %d bytes, note %q", name, got.err, len(got.Body), got.Note)
		}
		for _, h := range got.Headers {
			if h.Name == "Content-Encoding" {
				t.Errorf("%s: the coding is undone and still in the header", name)
			}
		}
	}
	for _, coding := range []string{"zstd", "gzip, gzip, gzip, gzip", "gzip, nonsense"} {
		if got := answering(t, answer{"text/plain", coding, text}, 1<<20); got.err != nil || !bytes.Equal(got.Body, text) {
			t.Errorf("%s: %v %q", coding, got.err, got.Body)
		}
	}
	for _, coding := range []string{"gzip", "br", "deflate"} {
		packed := pack(t, map[string]string{"deflate": "zlib"}[coding]+map[string]string{"gzip": "gzip", "br": "br"}[coding], text)
		got := answering(t, answer{"text/plain", coding, packed[:len(packed)-9]}, 1<<20)
		if got.err != nil || !got.Truncated || !strings.Contains(got.Note, "damaged") {
			t.Errorf("%s, cut: %v %+v", coding, got.err, got.HTTPResponse)
		}
	}
}

func TestBombsOfEveryCoding(t *testing.T) {
	zeros := make([]byte, 3<<20)
	for coding, packed := range map[string][]byte{
		"gzip": pack(t, "gzip", zeros), "deflate": pack(t, "zlib", zeros), "br": pack(t, "br", zeros),
		"gzip, gzip": pack(t, "gzip", pack(t, "gzip", zeros)),
	} {
		got := answering(t, answer{"application/octet-stream", coding, packed}, 1000)
		if got.err != nil || len(got.Body) != 1000 || !got.Truncated || got.Total > 2<<20 {
			t.Errorf("%s: %v, %d of %d", coding, got.err, len(got.Body), got.Total)
		}
	}
}

func encoded(t *testing.T, e encoding.Encoding, s string) []byte {
	t.Helper()
	b, err := e.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCharsets(t *testing.T) {
	const text = "naïve café"
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for name, c := range map[string]struct {
		answer
		want, note string
	}{
		"latin1":         {answer{"text/plain; charset=ISO-8859-1", "", encoded(t, charmap.ISO8859_1, text)}, text, "windows-1252"},
		"shift_jis":      {answer{`text/plain; charset="Shift_JIS"`, "", encoded(t, japanese.ShiftJIS, "日本語")}, "日本語", "shift_jis"},
		"json in latin1": {answer{"application/json; charset=latin1", "", encoded(t, charmap.ISO8859_1, `{"a":"é"}`)}, `{"a":"é"}`, "windows-1252"},
		"utf-16 mark":    {answer{"text/plain", "", encoded(t, utf16le, text)}, text, "utf-16"},
		"utf-8":          {answer{"text/plain; charset=utf-8", "", []byte(text)}, text, ""},
		"utf-8 mark":     {answer{"application/json", "", []byte("\xEF\xBB\xBF{}")}, "{}", ""},
		"html meta":      {answer{"text/html", "", encoded(t, charmap.Windows1251, `<meta charset="windows-1251">Привет`)}, `<meta charset="windows-1251">Привет`, "windows-1251"},
		"html silent":    {answer{"text/html", "", []byte("<p>" + text)}, "<p>" + text, ""},
		"unknown":        {answer{"text/plain; charset=klingon", "", []byte(text)}, text, ""},
		"no replacement": {answer{"text/plain; charset=iso-2022-kr", "", []byte(text)}, text, ""},
		"binary":         {answer{"image/png", "", []byte("\xFF\xFE\x00\x01")}, "\xFF\xFE\x00\x01", ""},
		"gzip and latin": {answer{"text/plain; charset=latin1", "gzip", pack(t, "gzip", encoded(t, charmap.ISO8859_1, text))}, text, "windows-1252"},
	} {
		got := answering(t, c.answer, 1<<20)
		if got.err != nil || string(got.Body) != c.want || (got.Note != "") != (c.note != "") || !strings.Contains(got.Note, c.note) {
			t.Errorf("%s: %v %q, note %q", name, got.err, got.Body, got.Note)
		}
	}
	if got := answering(t, answer{"text/plain; charset=latin1", "", bytes.Repeat([]byte{0xE9}, 100)}, 10); len(got.Body) != 10 || !got.Truncated {
		t.Errorf("the bound is on what comes out: %d bytes", len(got.Body))
	}
}

// TestStreamCutAtTheTimeLimit: what came of a stream that trickles is told.
func TestStreamCutAtTheTimeLimit(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "text/plain; charset=latin1", "application/json", "text/html; charset=utf-8"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, "data: 1\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		a := get(srv.URL+"/", nil)
		a.Limits.Timeout = 200 * time.Millisecond
		r := httprun.New(httprun.Config{})
		got := run(t.Context(), r, a, nil)
		if got.code() != executor.UpstreamTimeout || string(got.Body) != "data: 1\n\n" || !got.Truncated || got.Status != 200 {
			t.Errorf("%s: %v %+v", kind, got.err, got.HTTPResponse)
		}
		r.Close()
		srv.Close()
	}
}
