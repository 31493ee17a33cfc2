package mcpclient

import "io"

// Filtered is what the SDK gets of a stream in which request 1 is a tools/list, and
// what was taken out of it.
func Filtered(r io.Reader, events bool, limit int) (out, taken []byte, err error) {
	t := newTap()
	t.sent([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	f := newLines(r, t, limit)
	if events {
		f = newEvents(r, t, limit)
	}
	out, err = io.ReadAll(f)
	return out, t.result(methodListTools), err
}
