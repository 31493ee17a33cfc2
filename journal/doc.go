// Package journal is the append-only log of all that an agent did and of all
// that the operator changed, and the views of it.
//
// It answers two threats: an action that leaves no record, and a record that is
// changed, cut or thinned out afterwards. Against the first, Intend returns nil
// only when the entry is on disk; when the log cannot be written, is not the
// one that was opened, or the disk is down to its reserve, it refuses, and
// nothing may run. Against the second, every entry is a leaf of a Merkle tree
// (RFC 6962) whose head is signed in every commit and kept outside too. Entries
// are only ever inserted.
//
// What it cannot see: whoever holds the signing key can write a new log.
// Whoever can write the files, without the key, can cut the end off and put an
// older pin line beside it, or bring back an older copy of everything. Only a
// head that is kept elsewhere (Head, Extends, VerifyOptions.Heads: the vault
// keeps one) or a key that is known from elsewhere (VerifyOptions.Key) tells.
//
// # Files
//
// In one directory of mode 0700, each with mode 0600:
//
//	journal.db   the log, an SQLite database in WAL mode
//	journal.pub  the verifier key of golang.org/x/mod/sumdb/note, one line
//	journal.pin  the newest head, one line, written in place at every commit
//
// For the key whose Ed25519 seed is 32 zero bytes, journal.pub is
//
//	executor/journal/139e3940e64b5491+6135cc5e+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop
//
// where 139e3940e64b5491 is the beginning of the SHA-256 of the public key: the
// name of the log and of its key.
//
// # Entries
//
// The table entries holds one row per entry: the body, columns by which it is
// found (all of which follow from the body), the tree's hashes that it
// completes (its leaf, then each subtree whose last leaf it is, 32 bytes each,
// in the order of tlog.StoredHashIndex), and, in the last row of a commit, the
// signed checkpoint. Seq counts from 1; leaf n of the tree is entry n+1. The
// body is JSON in canonical form (RFC 8785), and its bytes as stored are the
// leaf. The first entry of a log that was created at noon is
//
//	{"change":{"action":"journal.create"},"kind":"change","seq":1,"time":"2026-11-30T12:00:00.000000Z"}
//
// and its checkpoint, a C2SP tlog-checkpoint in a C2SP signed note, is
//
//	executor/journal/139e3940e64b5491
//	1
//	iI6H6JbLZyyeYZ10AB+N4pnrVMBCi0CbSa5XU/xZEGk=
//
//	— executor/journal/139e3940e64b5491 YTXMXmyy7KO0fr2iQsJ1+INbpLPIDyltbdOQSnjBl6aNre9ON+aWwN17w34brGMakjsY4y+DTOFlyoMkbz5dH9rcjAk=
//
// Kinds: session.open, session.close, session.catalog, session.grant,
// session.grant_end; intent, outcome, refused; change, vault.generation,
// redaction. An
// activity has an intent and later an outcome, or is refused; a refused entry
// may stand for several like calls. Its order is that of seq, whatever the clock did.
//
// # Texts
//
// Text that came from an agent, a downstream or an operator, and the plain
// digests of it, is in no body: it stands in the table texts, one row an entry,
// and the body commits to the row. So a value can be taken out later and the
// tree still stands. The hash of a text is
//
//	SHA-256(salt ‖ field ‖ 0x00 ‖ value)
//
// with 16 random bytes of salt for each. For the salt "0123456789abcdef", the
// field "raw_args" and the value "{}" it is, in base64,
//
//	crsyY+rDfsN6ZI/FKN5drXuDv/+qj9O+NoAAyKsPLqc=
//
// What stands in the body as "texts" is the SHA-256 over all of an entry, in the
// order of their fields, in base64 without padding: for each
//
//	length of the field's name (1 byte) ‖ name ‖ hash
//
// which for the one above alone is
//
//	wEEJteg989cR6fFlsl9kRvrOylf+Lrpe7dca0zAfJ1I
//
// The columns action_digest, downstream_target, credential, client_name and tool
// hold those values; rest holds all salts and the other values, in the same order,
//
//	length of the field's name (1 byte) ‖ name ‖ salt ‖ length of the value (uvarint) ‖ value
//
// so that the one above alone is, in hex,
//
//	087261775f6172677330313233343536373839616263646566027b7d
//
// and for a text that was taken out 128 + the length, the name, and the hash.
//
// In the clear are ids, times, kinds, statuses, error codes, levels, revisions,
// contract digests, builds, counts, names of registered tools, and MACs.
//
// Redact takes texts out: their row is written again with the hashes in their
// place, under secure_delete, and the -wal is truncated. An entry of the kind
// redaction names the entry and the fields, in the same commit. A text that is
// out without one, and one that is there again, are tampering.
//
// # Lookups
//
// The table lookups (field, value, seq) is an index of what nearly every call
// has: 1 tool, 2 revision, 3 target, 4 credential, 5 action digest. The table
// calls holds the intents, outcomes and refusals of each session, with what they
// are counted by. Both take 256 entries or more at a time, which keeps six pages
// out of a commit, and a row (0, empty, seq) of lookups says how far they go; a
// query walks the entries behind that. They prove nothing and follow from the
// entries: Verify compares.
//
// # Pin
//
// journal.pin is 107 bytes: a magic word, the size in 20 digits, the root, and
// the first 8 bytes of the SHA-256 of what stands before, in hex:
//
//	executor-journal-pin-v1 00000000000000000001 iI6H6JbLZyyeYZ10AB+N4pnrVMBCi0CbSa5XU/xZEGk= 762d782137fa4f13
//
// The checksum tells a torn line from a written one; it is no signature. The
// line is written after the commit and not synced by itself, so after a crash
// it may be behind the log, never ahead of it. Without a pin that can be read
// nothing is written; Repin makes a new one, against a head from elsewhere.
//
// # Concurrency
//
// Several processes may append and read at once: the head is read under
// SQLite's write lock, and what another process appended is taken over only if
// it is signed and extends what is known. A lock that is held for longer than
// 10 s refuses. Callers of one process that arrive together share a commit.
// Readers hold no read for longer than a page takes (SQL and SQLite's own check of
// its pages, at the end of Verify, excepted) and never keep a writer waiting; a
// -wal that grows over 16 MB is emptied as soon as they leave a moment for it.
// No file of a journal may be opened by other means in a process that has it
// open: closing it would drop SQLite's POSIX locks.
package journal
