package mcpclient_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"executor/internal/mcpclient"
)

const answer = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"x"}}`

func TestFraming(t *testing.T) {
	const blank = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}`
	const taken = `{"tools":[{"name":"a"}],"nextCursor":"x"}`
	const other = `{"jsonrpc":"2.0","id":2,"result":{"tools":[1]}}`
	for _, c := range []struct {
		name    string
		in, out string
		taken   string
		events  bool
	}{
		{"a line", answer + "\n", blank + "\n", taken, false},
		{"a last line without its end", answer, blank + "\n", taken, false},
		{"a banner and carriage returns", "hello\r\n" + answer + "\r\n", blank + "\n", taken, false},
		{"another answer", other + "\n", other + "\n", "", false},
		{"the answer twice", answer + "\n" + answer + "\n", blank + "\n" + answer + "\n", taken, false},
		{"a request with the id", `{"id":1,"method":"x","result":1}` + "\n", `{"id":1,"method":"x","result":1}` + "\n", "", false},
		{"no JSON", "{nonsense\n", "{nonsense\n", "", false},
		{"an event", "id: 7\nevent: message\ndata: " + answer + "\n\n", "id: 7\nevent: message\ndata: " + blank + "\n\n", taken, true},
		{"data without the space, lines with carriage returns", "data:" + answer + "\r\n\r\n", "data: " + blank + "\n\n", taken, true},
		{"data on two lines", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{}}\n\n", "data: " + blank + "\n\n", "{}", true},
		{"a remark", ": hello\n\n", ": hello\n\n", "", true},
		{"an event that is cut", "data: " + answer + "\n", "", "", true},
	} {
		out, got, err := mcpclient.Filtered(iotest.OneByteReader(strings.NewReader(c.in)), c.events, 1000)
		if err != nil || string(out) != c.out || string(got) != c.taken {
			t.Errorf("%s: got %q and %q, %v\nwant %q and %q", c.name, out, got, err, c.out, c.taken)
		}
	}
}

func TestFramingIsBounded(t *testing.T) {
	for _, c := range []struct {
		in     string
		events bool
	}{
		{strings.Repeat("x", 1001), false}, {"{\n" + strings.Repeat(" ", 1001) + "\n", false},
		{"data: " + strings.Repeat("x", 1000), true}, {strings.Repeat("data: xxxx\n", 100), true}, {strings.Repeat("id: 1\n", 200), true},
	} {
		if _, _, err := mcpclient.Filtered(strings.NewReader(c.in), c.events, 1000); !errors.Is(err, mcpclient.ErrTooLarge) {
			t.Errorf("%.20q: %v", c.in, err)
		}
	}
}

// Whatever a server sends: no panic, no frame above the bound, and what is taken out is JSON.
func FuzzFraming(f *testing.F) {
	f.Add([]byte(answer+"\n"), false)
	f.Add([]byte("data: "+answer+"\n\n"), true)
	f.Add([]byte("data: {\"id\":1,\ndata: \"result\":{}}\r\n\r\n: x\n\n"), true)
	f.Add([]byte("banner\n{\"id\":1,\"result\":{\"tools\":null}}"), false)
	f.Fuzz(func(t *testing.T, in []byte, events bool) {
		out, taken, err := mcpclient.Filtered(bytes.NewReader(in), events, 500)
		if err != nil && !errors.Is(err, mcpclient.ErrTooLarge) {
			t.Fatal(err)
		}
		if taken != nil && !json.Valid(taken) {
			t.Errorf("taken: %q", taken)
		}
		if taken != nil && !bytes.Contains(out, []byte(`"tools":[]`)) {
			t.Errorf("taken and passed on: %q", out)
		}
		for line := range bytes.SplitSeq(out, []byte("\n")) {
			if len(line) > 700 {
				t.Errorf("a frame of %d bytes", len(line))
			}
		}
	})
}
