package mcpclient

import "errors"

// What a server did. The error around them says more.
var (
	// ErrTooLarge: it sent more than Limits allow.
	ErrTooLarge = errors.New("the server sends more than is read from one")
	// ErrUnstable: its list changed during every reading.
	ErrUnstable = errors.New("the list of tools kept changing while it was read")
	// ErrEnded: its command ended.
	ErrEnded = errors.New("the server's command ended")
	// ErrRedirected: it wants another URL.
	ErrRedirected = errors.New("the server redirects, and redirects are not followed")
	// ErrUnauthorized: it wants a credential, or another one.
	ErrUnauthorized = errors.New("the server wants a credential, or another one")
	// ErrProtocol: its answer is not what MCP says.
	ErrProtocol = errors.New("the server does not speak MCP as it should")
)

// Limits bound what is read from a server. A zero field means the default.
type Limits struct {
	Message int // bytes of one message; default 16 MiB
	List    int // bytes of all pages of a list; default 32 MiB
	Pages   int // pages of a list; default 1,000
	Tries   int // readings of a list of several pages until two agree; default 6
}

func (l Limits) filled() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{{&l.Message, 16 << 20}, {&l.List, 32 << 20}, {&l.Pages, 1000}, {&l.Tries, 6}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}
