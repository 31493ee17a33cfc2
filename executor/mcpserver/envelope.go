package mcpserver

import (
	"bytes"
	"encoding/json"
	"regexp"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Error codes that the transport answers with (JSON-RPC 2.0, section 5.1).
const (
	// CodeParse: the line is not JSON, or not UTF-8.
	CodeParse = jsonrpc.CodeParseError
	// CodeInvalidRequest: the line is JSON but no request: a batch, a wrong
	// version, an unusable or repeated id, a line over the limit.
	CodeInvalidRequest = jsonrpc.CodeInvalidRequest
	// CodeMethodNotFound: there is no such method.
	CodeMethodNotFound = jsonrpc.CodeMethodNotFound
	// CodeInvalidParams: params, or the members of a tools/call around its
	// arguments, are not what the method takes.
	CodeInvalidParams = jsonrpc.CodeInvalidParams
	// CodeInternal: a handler failed in a way of its own, or panicked.
	CodeInternal = jsonrpc.CodeInternalError
	// CodeBusy: too much is unanswered on this connection. From the range that
	// is left to implementations.
	CodeBusy = -32000
)

// A kind tells what a line is.
type kind int

const (
	kindCall kind = iota + 1
	kindNotification
	kindResponse
)

// An envelope is one well-formed message as it stood on the wire. Its values
// are the very bytes of the line.
type envelope struct {
	kind   kind
	id     wireID
	method string
	params json.RawMessage // nil when absent
	result json.RawMessage // of a response
	err    json.RawMessage // of a response
}

// A fault is a refusal at the level of the protocol.
type fault struct {
	id   wireID // zero: answered with id null
	code int64
	text string
}

// A wireID is a request id as the client wrote it. The zero value is no id.
type wireID struct {
	raw json.RawMessage
	// text is the value of a string, or the digits of an integer.
	text     string
	isString bool
}

// key names the id among the ids of a connection: 1 and "1" differ, and "a"
// and "\u0061" do not.
func (id wireID) key() string {
	if id.isString {
		return `"` + id.text
	}
	return id.text
}

// integer is what an id that is a number may look like. Fractions and
// exponents are refused, since no two parsers agree on their digits.
var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func parseID(raw json.RawMessage) (wireID, bool) {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return wireID{}, false
		}
		return wireID{raw: raw, text: s, isString: true}, true
	}
	if integer.Match(raw) {
		return wireID{raw: raw, text: string(raw)}, true
	}
	return wireID{}, false
}

// parseEnvelope reads one line. Members are matched by their exact name, and
// others are ignored, as JSON-RPC allows: "Method" is not "method".
func parseEnvelope(line []byte) (envelope, *fault) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return envelope{}, &fault{code: CodeParse, text: "the line is not valid JSON in UTF-8"}
	}
	switch bytes.TrimSpace(line)[0] {
	case '{':
	case '[':
		return envelope{}, &fault{code: CodeInvalidRequest, text: "batches are not supported: send one object a line"}
	default:
		return envelope{}, &fault{code: CodeInvalidRequest, text: "a message must be an object"}
	}
	object, err := readMembers(line)
	if err != nil {
		return envelope{}, &fault{code: CodeParse, text: "the line is not valid JSON"}
	}
	return newEnvelope(object)
}

func newEnvelope(object members) (envelope, *fault) {
	var e envelope
	rawID, hasID := object.get("id")
	if hasID && object.count("id") == 1 {
		e.id, _ = parseID(rawID)
	}
	invalid := func(text string) (envelope, *fault) {
		return envelope{}, &fault{id: e.id, code: CodeInvalidRequest, text: text}
	}
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if object.count(name) > 1 {
			return invalid("duplicate member " + name)
		}
	}
	if version, _ := object.text("jsonrpc"); version != "2.0" {
		return invalid(`jsonrpc must be "2.0"`)
	}
	_, hasMethod := object.get("method")
	if !hasMethod {
		return responseEnvelope(e, object)
	}
	var isText bool
	if e.method, isText = object.text("method"); !isText || e.method == "" {
		return invalid("method must be a string that is not empty")
	}
	if hasID && e.id.raw == nil {
		return invalid("id must be a string or an integer")
	}
	e.kind = kindNotification
	if hasID {
		e.kind = kindCall
	}
	return withParams(e, object)
}

// responseEnvelope is for the answers of the client. A response is never
// answered, so one with an unusable id is passed on for the caller to drop.
func responseEnvelope(e envelope, object members) (envelope, *fault) {
	result, hasResult := object.get("result")
	problem, hasError := object.get("error")
	if !hasResult && !hasError {
		return envelope{}, &fault{id: e.id, code: CodeInvalidRequest, text: "method is missing"}
	}
	e.kind, e.result, e.err = kindResponse, result, problem
	return e, nil
}

func withParams(e envelope, object members) (envelope, *fault) {
	raw, ok := object.get("params")
	if !ok || string(raw) == "null" {
		return e, nil
	}
	if problem := checkParams(e.method, raw); problem != "" {
		return e, &fault{id: e.id, code: CodeInvalidParams, text: problem}
	}
	e.params = raw
	return e, nil
}
