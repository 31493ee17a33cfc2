package ctl_test

import (
	"bufio"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"executor/approval"
)

// A hand speaks the protocol as the package's doc has it, with nothing of the
// package's code.
type hand struct {
	net.Conn
	in      *bufio.Reader
	key     []byte
	nonces  []byte
	seq     uint64
	sendKey []byte
}

const label = "executor operator.sock v1"

func sum(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// newHand greets and checks the daemon's proof.
func newHand(t testing.TB, path string, key []byte) *hand {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	h := &hand{Conn: c, in: bufio.NewReader(c), key: key}
	mine := make([]byte, 32)
	rand.Read(mine)
	fmt.Fprintf(c, "{\"op\":\"prove\",\"protocol\":1,\"nonce\":%q}\n", base64.StdEncoding.EncodeToString(mine))
	var w struct {
		OK           bool
		Nonce, Proof []byte
	}
	line, err := h.in.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &w) != nil || !w.OK {
		t.Fatalf("%q, %v", line, err)
	}
	h.nonces = append(mine, w.Nonce...)
	if !hmac.Equal(w.Proof, sum(key, []byte(label+" daemon proof\x00"), h.nonces)) {
		t.Fatal("the daemon's proof is not as documented")
	}
	if h.sendKey, err = hkdf.Key(sha256.New, key, h.nonces, label+" to daemon", 32); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *hand) prove() {
	fmt.Fprintf(h, "{\"proof\":%q}\n", base64.StdEncoding.EncodeToString(sum(h.key, []byte(label+" command proof\x00"), h.nonces)))
}

func (h *hand) say(body string) {
	h.seq++
	m := sum(h.sendKey, binary.BigEndian.AppendUint64(nil, h.seq), []byte(body))
	fmt.Fprintf(h, "{\"seq\":%d,\"mac\":%q,\"body\":%s}\n", h.seq, hex.EncodeToString(m), body)
}

func TestTheProtocolIsAsDocumented(t *testing.T) {
	w := newWorld(t, nil)
	h := newHand(t, w.path, []byte(strings.Repeat("\x07", 32)))
	h.prove()
	h.say(`{"op":"queue"}`)
	line, err := h.in.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"seq":1,"mac":"`) || !strings.Contains(line, `"body":{"reply":1,"queue":{"open":[]`) {
		t.Fatalf("%q, %v", line, err)
	}
	var f struct {
		MAC  string
		Body json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatal(err)
	}
	key, err := hkdf.Key(sha256.New, h.key, h.nonces, label+" to command", 32)
	if err != nil {
		t.Fatal(err)
	}
	if want := hex.EncodeToString(sum(key, binary.BigEndian.AppendUint64(nil, 1), f.Body)); f.MAC != want {
		t.Errorf("mac %s, want %s", f.MAC, want)
	}
}

// The proof itself is wanted, also from one who could MAC its lines.
func TestTheProofIsNotLeftOut(t *testing.T) {
	w := newWorld(t, nil)
	for _, second := range []string{`{"proof":""}`, `{"proof":"` + strings.Repeat("A", 43) + `="}`, `{}`} {
		h := newHand(t, w.path, []byte(strings.Repeat("\x07", 32)))
		fmt.Fprintln(h, second)
		h.say(`{"op":"queue"}`)
		if b, _ := io.ReadAll(h.in); len(b) > 0 {
			t.Errorf("after %s came %q", second, b)
		}
	}
}

// A proved console that talks nonsense ends itself.
func TestNonsenseFromAProvedConsole(t *testing.T) {
	w := newWorld(t, nil)
	good := w.attach(w.client)
	for _, body := range []string{`{"op":"answer"}`, `{"op":"answer","answer":{"id":"x","verdict":"yes","Digest":"y"}}`, `null`, `[]`, `{"op":"attach"}`,
		`{"op":"shown"}`, `{"op":"nonsense"}`, `{"op":"unlock","sealed":"AAAA"}`, `{"x":1}`, `{"op":"answer","answer":{"id":"` + strings.Repeat("x", 300<<10) + `"}}`} {
		for _, first := range []string{"", `{"op":"attach","name":"\u001b[2J"}`} {
			h := newHand(t, w.path, []byte(strings.Repeat("\x07", 32)))
			h.prove()
			if first != "" {
				h.say(first)
			}
			h.say(body)
			h.Conn.(*net.UnixConn).CloseWrite()
			io.Copy(io.Discard, h.in)
		}
	}
	w.until("the others are gone", func() bool { return w.desk.Queue().Approvers == 1 })
	if len(w.daemon.done) != 0 {
		t.Errorf("done %v", w.daemon.done)
	}
	call := w.ask(request("uptime"))
	if err := good.Answer(w.ctx, to(w.shown(good), approval.Yes)); err != nil {
		t.Error(err)
	}
	w.got(call)
}

func FuzzBody(f *testing.F) {
	for _, s := range []string{`{"op":"attach"}`, `{"op":"revoke","id":"g-1"}`, `{"op":"unlock","sealed":"AAAA"}`, `{"op":"answer","answer":{}}`, "\n", "{"} {
		f.Add(s)
	}
	w := newWorld(f, nil)
	f.Fuzz(func(t *testing.T, body string) {
		h := newHand(t, w.path, []byte(strings.Repeat("\x07", 32)))
		h.prove()
		h.say(body)
		h.Conn.(*net.UnixConn).CloseWrite()
		io.Copy(io.Discard, h.in)
		if len(w.daemon.done) != 0 {
			t.Errorf("%q did %v", body, w.daemon.done)
		}
	})
}
