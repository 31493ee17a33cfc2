package httprun

import (
	"net/http"
	"slices"
	"strings"

	"executor/internal/action"
)

// Withheld stands in place of a cookie's value.
const Withheld = "[withheld]"

// responseHeaders lists the headers by name. A cookie that the server sets is a
// credential of its own: its name stays, its value and attributes do not.
// Where the binding allows it, it is passed on.
func responseHeaders(header http.Header, cookies bool) []action.Header {
	out := make([]action.Header, 0, len(header))
	for name, values := range header {
		for _, v := range values {
			if !cookies && (name == "Set-Cookie" || name == "Set-Cookie2") {
				v = withhold(v)
			}
			out = append(out, action.Header{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b action.Header) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func withhold(cookie string) string {
	pair, _, _ := strings.Cut(cookie, ";")
	name, _, ok := strings.Cut(pair, "=")
	if !ok {
		return Withheld
	}
	return strings.TrimSpace(name) + "=" + Withheld
}
