// Package mask takes secrets out of streams.
//
// The threat is the careless echo: a server, a log or an error text that gives
// back a credential it was sent, whole or in one of the usual encodings, over
// any chunk border. A [Set] knows the secrets; its [Writer] replaces each one
// it finds:
//
//	in:  {"auth":"Bearer s3cr3t-9f2c71d0-token"}
//	out: {"auth":"Bearer [credential api-demo]"}
//
// This is a net, not a boundary. A server that wants to give a secret away
// reverses it, or sends one character at a time, and is not caught.
//
// # Strong and weak
//
// A secret of 16 bytes and up with at least 10 distinct byte values is strong,
// and masked. To mask a weak one would be an oracle: text comes back changed
// when a guess was right, and "1234" is in most pages. A weak secret of the
// credential in use sets [Report].WeakSeen instead, and the caller withholds
// the whole result.
//
// # What is found
//
// The stream is read through five views at once, each with its places in the
// source, and each is matched against the same secrets (Aho-Corasick):
//
//   - as it is;
//   - percent-decoded (RFC 3986 section 2.1, either case of hex);
//   - backslash-decoded: JSON (RFC 8259 section 7), \xHH, octal, shell quoting;
//   - with HTML references decoded (&amp; &lt; &gt; &quot; &apos; &#38; &#x26;);
//   - all three, repeated until nothing is left to decode, for text that was
//     encoded twice. The secret is decoded in the same way for comparison; one
//     that has escapes in it by itself may be missed in this view.
//
// Because text is decoded, not secrets encoded, it does not matter which
// characters an encoder chose to escape. A plus sign and a space are the same
// everywhere (application/x-www-form-urlencoded). Escaped surrogate pairs match.
//
// Base64 (RFC 4648, both alphabets, each of the three offsets in a group, padded
// or not) and hex (either case, mixed) are matched in the first and the last
// view, also when they are wrapped in lines. Of a base64 text, the characters
// that hold bits of the secret alone are matched, and the one after them, if
// it holds some. The one before them stays when a neighbour shares it: it
// holds four bits of the secret at most.
//
// Of a secret of several lines, each line of 12 bytes and up with 8 distinct
// values is a secret too, as text alone, PEM's BEGIN and END lines excepted; the
// whole also matches with CRLF for LF and without its last line end.
//
// # Derived secrets
//
// A token or signature that is made from a secret while the program runs is made
// known with [Set.Learn], before it is sent. Sets share what they learn through
// one [Derived], so that a call which began earlier masks it too.
//
// # Cost
//
// Linear in the text, whatever the number of secrets. Text that is full of
// escapes costs ten times what other text does. Memory is about 24 bytes for
// each byte of each encoded form: some kilobytes for a token, half a megabyte
// for a PEM key.
//
// # Wiping
//
// A Set that was wiped cannot mask any more, so it lets nothing through: its
// writers fail, and what they held back is dropped.
package mask
