package httprun

import (
	"fmt"
	"net/http"

	"executor/internal/target"
)

// A redirection is what an answer's Location asks for. The zero value asks for nothing.
type redirection struct {
	to     target.URL
	url    string // to, or "" when there is no usable one
	note   string // why it was not followed
	follow bool
}

func (c *call) redirect(from target.URL, answer *http.Response, hops int) redirection {
	location := answer.Header.Get("Location")
	if !redirects(answer.StatusCode) || location == "" {
		return redirection{}
	}
	to, err := from.Resolve(location)
	if err != nil {
		return redirection{note: "redirect not followed: its Location is not a usable URL"}
	}
	r := redirection{to: to, url: to.String()}
	why := c.refusal(from, to, hops)
	if r.follow = why == ""; !r.follow {
		r.note = fmt.Sprintf("redirect to %s not followed: %s", to.Origin(), why)
	}
	c.recordRedirect(from, r)
	return r
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// refusal says why a redirect is not followed, or "".
func (c *call) refusal(from, to target.URL, hops int) string {
	allowed := c.action.Redirects
	within, err := target.ParsePattern(allowed.Within)
	switch {
	case from.Origin() != to.Origin():
		return "it is another origin"
	case c.action.Method != http.MethodGet && c.action.Method != http.MethodHead:
		return "only GET and HEAD follow redirects"
	case len(c.action.Body.Bytes) > 0:
		return "the request has a body"
	case allowed.Max == 0:
		return "this call does not follow redirects"
	case hops >= allowed.Max:
		return fmt.Sprintf("%d were followed already", hops)
	case err != nil || !within.MatchURL(to):
		return "it leaves the credential's binding"
	case c.action.Credential != nil && c.lease.Meta.OccupiesParam(to.RawQuery()):
		return "it names the credential's own parameter"
	}
	return ""
}

// recordRedirect keeps each redirect for the journal, with what became of the credential.
func (c *call) recordRedirect(from target.URL, r redirection) {
	fact := map[string]any{"from": from.String(), "to": r.url, "followed": r.follow}
	if !r.follow && c.action.Credential != nil {
		fact["credential"] = "not forwarded"
	}
	list, _ := c.facts["redirects"].([]map[string]any)
	c.facts["redirects"] = append(list, fact)
}
