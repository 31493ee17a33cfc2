// Package mcpclient calls other MCP servers: it lists what a server declares, as
// the server spelled it, and is the client side of calls.
//
// A Careful client is for programs that plan calls and send them later: what was
// planned on one contract is sent with that meaning, repaired where that takes no
// choice, or not at all. The threat is a tool whose contract changed between the
// plan and the call.
//
// It is the only client-side importer of the MCP SDK. What it returns is the
// server's own word: names, texts and schemas are foreign, and whoever shows
// them makes them safe.
//
// # What a server can do to it
//
// The threat is the server: a program of other people, or a URL. It may hang,
// die, send without end, answer in pages that do not fit together, redirect, or
// declare schemas that no parser should meet. So every talk is bounded by the
// caller's context and by Limits; a hung command is killed with its whole process
// group; redirects are never followed, so a credential stays where it is bound;
// and standard error goes to a writer that the caller bounds.
//
// # Listing
//
// The SDK decodes tools into Go types: numbers become float64, unknown fields
// vanish, and tools that it dislikes are left out. A change in what it drops would
// be a change that nobody sees. So the package takes the result of tools/list out
// of the stream before the SDK decodes it (type tap), and keeps its bytes. Listing
// is the outcome:
//
//	{"capabilities":…,"instructions":…,"server":…,"tools":[…]}
//
// with each value as it stood on the wire (a message nested more than 10,000 deep is
// refused, ErrProtocol). The members other than tools come from
// initialize or server/discover, and are left out where the server has none.
//
// Pages have no consistency among them (MCP 2026-07-28, Utilities, Pagination and
// Caching). A list of one page is taken as it is. A longer one is read until two
// readings in a row agree, each from the first page; a reading during which the
// server said list_changed, or refused its own cursor, does not count.
//
// # Revisions of the protocol
//
// The newest that both sides know, up to 2026-07-28: server/discover first, then
// initialize (2025-11-25 and older) where that is not understood. A server that does
// not answer what it does not know is greeted with initialize after a third of the
// time; one that ends at it is started again. That holds for stdio and for
// Streamable HTTP alike.
package mcpclient
