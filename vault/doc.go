// Package vault keeps credentials, and everything else that widens what an
// agent may do, in one encrypted file that notices when it was touched.
//
// # Threats
//
// Someone who can write to the home but has not the passphrase can destroy the
// vault; he cannot change it, swap it for an older one, or plant one of his own
// without a refusal at the next Open. Nothing is loaded from a vault that is
// refused, and it is never rewritten, so that it stays as evidence. A crash, a
// kill -9 or a full disk at any moment leaves the old or the new vault, whole,
// and only ciphertext ever reaches the disk.
//
// It does not protect from someone with the passphrase, or who reads this
// process's memory. Wiping is hygiene: the age library takes passphrase and
// identity as strings, which cannot be overwritten. A generation that was
// written but not yet recorded when its writer died can be taken back unseen,
// until the next Open records it. When vault and ledger are both put back to
// one earlier moment, only a head of the ledger kept elsewhere shows it (a
// process that has read a newer vault notices too).
//
// # identity.age
//
// An age file (age-encryption.org/v1) with one scrypt recipient, the
// passphrase. Its plaintext is this JSON, in this order, without white space:
//
//	{"format":1,"identity":"AGE-SECRET-KEY-1…","root":"<base64 of 32 bytes>"}
//
// The identity opens vault.age. From the root, by HKDF-SHA256 (RFC 5869, no
// salt, 32 bytes) with these info strings, come
//
//	executor vault generation MAC v1   the MAC key of generations
//	executor console proof v1          what serve and a console prove to share
//	executor journal ed25519 seed v1   the seed of the journal's signing key
//
// so that no key lies in the home in the clear.
//
// # vault.age
//
// An age file with one X25519 recipient, that of the identity. Its plaintext,
// here with line breaks that are not in the file:
//
//	{"format":1,"generation":7,"mac":"a11a…64 hex digits","body":
//	  {"journal":{"size":12,"root":"<base64 of 32 bytes>"},
//	   "items":[
//	     {"kind":"credential","name":"ci","version":1,"body":{"type":"bearer"},"secret":"b2xk"},
//	     {"kind":"credential","name":"ci","version":2,"body":{"type":"bearer"},"secret":"bmV3"},
//	     {"kind":"host","name":"web-1","version":1,"body":{"addr":"web-1:22"}}],
//	   "retired":[{"kind":"host","name":"old","version":4}]}}
//
// The MAC is HMAC-SHA256 over the line "executor vault generation v1\n", the
// generation as 8 bytes big endian, and the bytes of body as they stand. Journal
// is the ledger's head when this was written: the ledger must extend it. Items
// are in order of kind, name and version; the highest version is the current
// one. Secrets are base64. Retired holds the highest version of what was
// removed, so that a number is never given twice. A reader takes these bytes
// and no other spelling of them.
//
// # Writing
//
// Under an flock on vault.lock: read and check the newest generation, edit,
// pin the ledger's head, write vault.age.tmp-RANDOM (0600), fsync, rename,
// fsync the directory, record the generation in the ledger. A vault that is one
// generation ahead of the ledger comes from a writer that died before the last
// step; whoever reads it next takes that step. Of older than the ledger knows,
// more than one ahead, or other than recorded, nothing is loaded.
package vault
