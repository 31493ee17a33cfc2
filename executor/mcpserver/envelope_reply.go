package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A reply is a response as it goes out. The SDK's own encoder omits an id of
// null and rewrites the digits of large ones.
type reply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *jsonrpc.Error  `json:"error,omitempty"`
}

// encodeReply returns the line of a reply with its "\n". No id is written as
// null, which is what a nil RawMessage encodes to.
func encodeReply(id wireID, result json.RawMessage, problem *jsonrpc.Error) ([]byte, error) {
	r := reply{JSONRPC: "2.0", ID: id.raw, Result: result, Error: problem}
	if problem == nil && r.Result == nil {
		r.Result = json.RawMessage("{}")
	}
	// The encoder compacts raw values, so the only newline is the last byte.
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encoding a reply: %w", err)
	}
	return line.Bytes(), nil
}

func encodeFault(f *fault) ([]byte, error) {
	return encodeReply(f.id, nil, &jsonrpc.Error{Code: f.code, Message: f.text})
}

// wireError turns the error of a handler into what the client gets. An error
// without a code of its own gets uncoded.
func wireError(err error, uncoded int64) *jsonrpc.Error {
	out := &jsonrpc.Error{Code: uncoded, Message: cut(err.Error())}
	var coded *jsonrpc.Error
	if errors.As(err, &coded) {
		out.Data = coded.Data
		if coded.Code != 0 {
			out.Code = coded.Code
		}
	}
	return out
}

// cut shortens text that quotes its input in the middle: the cause stands at
// the end. At most about 600 bytes are left.
func cut(text string) string {
	const keep = 300
	if len(text) <= 2*keep {
		return text
	}
	return strings.ToValidUTF8(text[:keep], "") + " … " + strings.ToValidUTF8(text[len(text)-keep:], "")
}
