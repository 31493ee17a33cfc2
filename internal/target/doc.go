// Package target reads URLs and target patterns: the one normalization, and
// the one comparison, that decide where a credential may go.
//
// The threat is a URL that two programs read differently. The rule sees one
// host or path, the client or server another, and the credential follows. So a
// URL is parsed once, by Parse, which refuses whatever is read in more than one
// way and gives everything else one spelling. That spelling, URL.String, is what
// is matched, shown, journaled and sent; parsing it again gives itself.
//
// # Normal form of a URL
//
// RFC 3986, narrowed:
//
//		https://API.Example.com.:443/v1/%7euser/caf\u00e9?q=a b   is refused (space)
//		https://API.Example.com.:443/v1/%7euser/caf\u00e9?q=a%20b becomes
//		https://api.example.com/v1/~user/caf%C3%A9?q=a%20b
//
//	  - The scheme is http or https. The port is written only when it is not the scheme's own.
//	  - The host is lower-case ASCII without a trailing dot; other scripts go through
//	    IDNA 2008 (UTS 46, non-transitional). An address is written in its
//	    canonical form or refused: 2852039166, 0xA9FEA9FE and 169.254.43518 are all
//	    169.254.169.254 to the C library's inet_aton.
//	  - Percent-encoding (RFC 3986 section 6.2.2): hex digits in upper case, unreserved
//	    characters bare, everything that the grammar does not allow encoded.
//	  - An empty path becomes "/", an empty query disappears.
//
// Refused: user information, fragments, backslashes, spaces and control
// characters anywhere; in the path dot segments, slashes and backslashes in any
// number of encodings (%2e, %252e, "..;", full-width dots, overlong UTF-8),
// empty segments, encoded control characters and bytes that are not UTF-8.
// An error text never holds user information, a query or a path; where it can it
// names the host that the URL would have reached.
//
// # Patterns
//
//	https://api.example.com/v1/read   matches /v1/read and /v1/read/x, not /v1/reader
//	https://api.example.com/v1/read/  matches /v1/read/ and /v1/read/x, not /v1/read
//	http://127.0.0.1:18080/           http to exact loopback only
//	ssh://web-1.example.com:22        one SSH destination
//
// Scheme, host and effective port match exactly, the path by segment. There are
// no wildcards.
//
// # Addresses
//
// Judge says of an address whether it may be dialed: always, only under a
// pattern that names it, or never. It follows the IANA special-purpose address
// registries (RFC 6890) and looks through the IPv6 forms that embed IPv4.
package target
