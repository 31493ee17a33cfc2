package action

import (
	"net/textproto"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// framing are the headers that belong to the connection and the message's frame
// (RFC 9110, section 7.6.1, and RFC 9112), never to whoever asks.
var framing = map[string]bool{
	"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true,
	"Keep-Alive": true, "Te": true, "Trailer": true, "Upgrade": true, "Expect": true,
	"Http2-Settings": true,
}

// reserved are the headers that carry authority or re-route a request: a caller
// that could set them would speak as somebody else, or to somebody else.
var reserved = map[string]bool{
	"Authorization": true, "Cookie": true, "Cookie2": true, "Forwarded": true, "Via": true,
	"X-Http-Method": true, "X-Http-Method-Override": true, "X-Method-Override": true,
	"X-Original-Url": true, "X-Rewrite-Url": true, "X-Original-Host": true,
	"X-Host": true, "X-Real-Ip": true,
	// Answers must be readable to be masked.
	"Accept-Encoding": true,
}

// Framing reports whether a header belongs to the connection: nobody sets it.
func Framing(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	return framing[name] || strings.HasPrefix(name, "Proxy-")
}

// Reserved reports whether a header is refused from an agent.
func Reserved(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	return Framing(name) || reserved[name] || strings.HasPrefix(name, "X-Forwarded-")
}

// CheckHeader says what is wrong with a header line, or "". It never repeats the value.
func CheckHeader(name, value string) string {
	if !httpguts.ValidHeaderFieldName(name) {
		return "is not a header name (RFC 9110, section 5.1): letters, digits and !#$%&'*+-.^_`|~ only"
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return "its value holds a line break or another control character"
	}
	return ""
}
