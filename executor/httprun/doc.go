// Package httprun sends one HTTP action and reads its answer.
//
// The threat is a credential that reaches somebody else, and an effect that
// happens twice. So:
//
//   - What is sent is the action: its method, URL, headers and body, plus one
//     header at the slot that the action declares. No cookie, no referrer, no user agent
//     and no proxy from the environment is added. Content-Length and Host belong
//     to the message's frame and are set here.
//   - One exchange is one request on the wire. net/http repeats a request that it
//     takes for idempotent when a reused connection breaks; every request here is
//     made such that it cannot (see body.go). A broken one is an error that says so.
//   - A name is resolved once, every address is judged (internal/target), and a
//     judged address is dialed, never the name. The dialer judges the address again at
//     the socket, after which nothing can change it.
//   - A redirect is followed only for GET and HEAD, within the action's limit, inside
//     the same origin and the pattern that the action names. Otherwise the 3xx is the answer.
//   - TLS 1.2 and up, verified against the system's roots. An action that asks for
//     a private CA, a client certificate, unverified TLS or a proxy is refused.
//   - The answer is bounded: header, body before and after decompression, what is read
//     only to be counted, and the time for all of it.
//   - An error text holds no header value, no query and nothing that the server
//     sent; errors of net/http, which may quote all of these, are not passed on.
//
// A header's value must be a Go string to be sent, which cannot be wiped: it
// lives until the collector takes it, and in HTTP/2's header table as long as the
// connection. Connections are therefore pooled per credential version.
package httprun
