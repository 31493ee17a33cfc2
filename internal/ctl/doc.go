// Package ctl is the talk on operator.sock between the daemon and the operator's
// commands: both ends of it.
//
// The threat is a process of the operator's own uid that opens the socket: an
// agent with a shell, say. Without the operator's passphrase it can do what a
// signal could do as well (lock, reload) and learn that requests exist (status).
// It cannot read a request, answer one, list or end grants, or hand over an
// identity. It also cannot pose as the daemon and show a request of its own.
//
// # The proof
//
// Both ends hold a 32-byte key that is derived from identity.age: the daemon
// since its first unlock, a command because it opened the file itself with the
// passphrase, which therefore never crosses the socket. One line of JSON each:
//
//	→ {"op":"prove","protocol":1,"nonce":"<32 bytes, base64>"}
//	← {"ok":true,"nonce":"<32 bytes>","proof":"<32 bytes>"}
//	→ {"proof":"<32 bytes>"}
//
// With K the key, Nc and Ns the nonces and L = "executor operator.sock v1":
//
//	daemon's proof  = HMAC-SHA256(K, L " daemon proof" 0x00 Nc Ns)
//	command's proof = HMAC-SHA256(K, L " command proof" 0x00 Nc Ns)
//	keys            = HKDF-SHA256(K, salt Nc Ns, info L " to daemon" | L " to command" | L " identity")
//
// (RFC 2104, RFC 5869.) The daemon proves first; a command that is not satisfied says no more
// and returns ErrProof. From then on every line is
//
//	{"seq":1,"mac":"<HMAC-SHA256 over seq (8 bytes, big endian) and body, hex>","body":{"op":"attach","name":"pts/3"}}
//
// with the sender's key of this connection and seq counting from 1 in each
// direction. So an answer is bound to its approval id, digest, verdict and place:
// it cannot be replayed, reflected, reordered, moved to another request or to
// another connection. A line that is malformed, too long, out of order or wrongly
// MACed ends its connection and nothing else. A connection that was cut short
// is an error at the command, and at the daemon a seat that was left.
//
// # Without proof
//
//	→ {"op":"status"}
//	← {"ok":true,"status":{"version":"v1.0.0","locked":false,"sessions":2,"requests":1,"approvers":1,"journal_key":"executor/journal/…"}}
//
// and likewise "lock" and "reload".
//
// # With proof
//
// "grants", "revoke", "queue", "unlock": one command, one reply {"reply":seq,…}.
// "attach" takes a seat: events come as {"event":{…}}, and "shown", "awake"
// and "answer" are replied to. Text that an agent had a hand in travels as
// base64, because JSON would mend what is not UTF-8 in it and the console would
// show something else than the daemon has.
//
// For "unlock" the identity is sealed with AES-256-GCM (NIST SP 800-38D) under the third key, which
// seals this one message.
package ctl

import "errors"

// Errors of a Client.
var (
	// ErrNoDaemon: nothing answers on the socket.
	ErrNoDaemon = errors.New("no daemon is running")
	// ErrProof: the two ends do not hold one key.
	ErrProof = errors.New("the other end did not prove that it has the operator's key")
	// ErrLocked: the daemon was never unlocked, so it holds no key to prove anything with.
	ErrLocked = errors.New("the daemon was not unlocked yet")
	// ErrLost: the connection ended or what came was not as sent.
	ErrLost = errors.New("the connection to the daemon is lost")
)

// Status is what anyone who may open the socket learns.
type Status struct {
	Version   string `json:"version"`
	Locked    bool   `json:"locked"`
	Sessions  int    `json:"sessions"`
	Requests  int    `json:"requests"`
	Approvers int    `json:"approvers"`
	// JournalKey is the verifier key of the journal that the daemon signs, which
	// is public.
	JournalKey string `json:"journal_key,omitempty"`
}
