package httprun

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// sniffBytes is how far into a page its charset may be declared (HTML, section 4.2.5).
const sniffBytes = 1024

// toUTF8 converts text to UTF-8, by its byte order mark, the charset that the
// server names, or what an HTML page declares; note says from what. It is done
// before masking, which reads UTF-8.
func toUTF8(body io.Reader, contentType string) (out io.Reader, note string) {
	kind, params, ok := mediaType(contentType)
	if !ok || !textual(kind, params) {
		return body, ""
	}
	page := kind == "text/html" || kind == "application/xhtml+xml"
	b := bufio.NewReaderSize(body, map[bool]int{true: sniffBytes, false: 16}[page])
	head, _ := b.Peek(2)
	if len(head) == 2 && head[0] == 0xEF {
		head, _ = b.Peek(3)
	}
	var name string
	var enc encoding.Encoding
	switch {
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		b.Discard(3)
		return b, ""
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}), bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		name, enc = "utf-16", unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)
	case params["charset"] != "":
		if enc, name = charset.Lookup(params["charset"]); enc == nil {
			return b, ""
		}
	case page:
		begin, _ := b.Peek(sniffBytes)
		enc, name, _ = charset.DetermineEncoding(begin, contentType)
		if name == "windows-1252" && !declares(begin) {
			return b, "" // the sniffer's guess for whatever says nothing
		}
	}
	if enc == nil || name == "utf-8" || name == "replacement" {
		return b, ""
	}
	return enc.NewDecoder().Reader(b), "the text was converted to UTF-8 from " + name
}

func mediaType(s string) (kind string, params map[string]string, ok bool) {
	if !strings.Contains(s, ";") {
		return strings.ToLower(strings.TrimSpace(s)), nil, true
	}
	kind, params, err := mime.ParseMediaType(s)
	return kind, params, err == nil
}

// declares reports whether a page says something of its charset.
func declares(page []byte) bool { return bytes.Contains(bytes.ToLower(page), []byte("charset")) }

func textual(kind string, params map[string]string) bool {
	switch {
	case params["charset"] != "", strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"):
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-ndjson", "application/x-www-form-urlencoded":
		return true
	}
	return false
}
