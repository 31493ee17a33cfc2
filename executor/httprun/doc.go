// Package httprun sends one HTTP action and reads its answer.
//
// The threat is a credential that reaches somebody else, and an effect that
// happens twice. So:
//
//   - What is sent is the action: its method, URL, headers and body, plus one
//     injection at the slot that the action declares: a header, a cookie, a query
//     parameter, an AWS signature, or the client certificate of the connection. No
//     other cookie, no referrer, no user agent and no proxy from the environment is
//     added. Content-Length and Host belong to the message's frame and are set here.
//   - One exchange is one request on the wire. net/http repeats a request that it
//     takes for idempotent when a reused connection breaks; every request here is
//     made such that it cannot (see body.go). A broken one is an error that says so.
//     The one exception: a read whose token got a 401 is sent again with a new one,
//     once, where the action says so (see send).
//   - A token (RFC 6749, section 4.4) is fetched in a Run, never before, from the URL
//     that the action names, over connections of its own that are always verified
//     and follow no redirect. It is kept in memory per credential version, renewed
//     before it ends, and not sent unless the masks learned it first; nor is a signature.
//   - A name is resolved once, every address is judged (internal/target), and a
//     judged address is dialed, never the name. The dialer judges the address again at
//     the socket, after which nothing can change it.
//   - A redirect is followed only for GET and HEAD, within the action's limit, inside
//     the same origin and the pattern that the action names, and never to a URL that
//     names the credential's own parameter. Otherwise the 3xx is the answer.
//   - TLS 1.2 and up, verified against the system's roots or the private CA that the
//     action names by its digest, or not at all where the action says so; the lease
//     must hold the very files. An action that asks for a proxy is refused.
//   - The answer is bounded: header, body before and after decompression, what is read
//     only to be counted, and the time for all of it. gzip, deflate and br are undone
//     (RFC 9110, section 8.4.1), and text of another charset is made UTF-8, since
//     only what can be read can be masked. Any other coding is passed on as it is.
//   - An error text holds no header value, no query and nothing that the server
//     sent; errors of net/http, which may quote all of these, are not passed on.
//
// A header's value, a client secret and an AWS key must be Go strings to be used,
// which cannot be wiped: they live until the collector takes them, and a header in
// HTTP/2's header table as long as the connection, as a client key does in its
// pool. Connections are therefore pooled per credential version, and Forget
// drops them, and the tokens, when the vault is locked.
package httprun
