package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rogpeppe/go-internal/txtar"
)

// seeds are the lines of the transcripts.
func seeds(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("testdata/transport/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.SplitSeq(txtar.Parse(b).Files[0].Data, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 && len(line) < 4096 {
				f.Add(line)
			}
		}
	}
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}`))
	f.Add([]byte(strings.Repeat("[", 20_000)))
}

func FuzzEnvelope(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(bytes.TrimSpace(line)) == 0 {
			return // never reaches the parser
		}
		e, wrong := parseEnvelope(line)
		if wrong != nil {
			checkFault(t, wrong)
			return
		}
		if !json.Valid(line) || !utf8.Valid(line) {
			t.Fatalf("accepted %q", line)
		}
		switch e.kind {
		case kindCall:
			checkEcho(t, e.id)
		case kindNotification, kindResponse:
			return
		default:
			t.Fatalf("kind %d", e.kind)
		}
		if e.method == methodCallTool && e.params != nil {
			checkOneReading(t, e.params)
		}
	})
}

func checkFault(t *testing.T, wrong *fault) {
	t.Helper()
	line, err := encodeFault(wrong)
	if err != nil || bytes.IndexByte(line, '\n') != len(line)-1 || !json.Valid(line) {
		t.Fatalf("refusal %q, %v", line, err)
	}
	if !bytes.Contains(line, []byte(`"id":`)) {
		t.Fatalf("refusal without id: %s", line)
	}
}

// checkEcho asks that an id comes back with the bytes that it had.
func checkEcho(t *testing.T, id wireID) {
	t.Helper()
	line, err := encodeReply(id, nil, nil)
	if want := fmt.Sprintf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n", id.raw); err != nil || string(line) != want {
		t.Fatalf("reply %q, %v; want %q", line, err, want)
	}
}

// checkOneReading asks that a reader that ignores case and lets the last
// duplicate win sees the very call that an exact reader sees.
func checkOneReading(t *testing.T, params json.RawMessage) {
	t.Helper()
	var lax struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(params, &lax); err != nil {
		t.Fatalf("accepted params that cannot be read: %v in %s", err, params)
	}
	ms, err := readMembers(params)
	if err != nil {
		t.Fatal(err)
	}
	name, _ := ms.text("name")
	arguments, _ := ms.get("arguments")
	if name != lax.Name || !bytes.Equal(arguments, lax.Arguments) {
		t.Fatalf("two readings of %s: %q %s and %q %s", params, name, arguments, lax.Name, lax.Arguments)
	}
}

func TestWireError(t *testing.T) {
	coded := &jsonrpc.Error{Code: CodeInvalidParams, Message: "bad", Data: json.RawMessage(`{"a":1}`)}
	got := wireError(fmt.Errorf("handling: %w", coded), CodeInternal)
	if got.Code != CodeInvalidParams || got.Message != "handling: bad" || string(got.Data) != `{"a":1}` {
		t.Errorf("wrapped: %+v", got)
	}
	if got := wireError(errors.New("plain"), CodeInternal); got.Code != CodeInternal || got.Message != "plain" {
		t.Errorf("plain: %+v", got)
	}
	long := wireError(errors.New("head "+strings.Repeat("é", 5000)+" tail"), CodeInternal).Message
	if len(long) > 700 || !strings.HasPrefix(long, "head ") || !strings.HasSuffix(long, " tail") || !utf8.ValidString(long) {
		t.Errorf("long: %q", long)
	}
}

// FuzzMembers: an object is taken apart as encoding/json does it.
func FuzzMembers(f *testing.F) {
	seeds(f)
	f.Add([]byte(" {\"a\\u0022\" :\t[1, {\"}\":\"]\\\\\"}],\"\":\"\\\"\" , \"n\":-1.5e3\n,\"t\":true}\r\n"))
	f.Add([]byte(`{"a":1,"a":{"b":[]},"c":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return // readMembers asks for valid JSON
		}
		got, err := readMembers(text)
		want, failed := decodedMembers(text)
		if (err != nil) != (failed != nil) || len(got) != len(want) {
			t.Fatalf("%q: %d members, %v; encoding/json has %d, %v", text, len(got), err, len(want), failed)
		}
		for i := range got {
			if got[i].name != want[i].name || !bytes.Equal(got[i].value, want[i].value) {
				t.Errorf("%q: member %d is %q: %q, want %q: %q", text, i, got[i].name, got[i].value, want[i].name, want[i].value)
			}
		}
	})
}

func decodedMembers(text []byte) (members, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, errNoObject
	}
	var ms members
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: name.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		ms = append(ms, m)
	}
	return ms, nil
}
