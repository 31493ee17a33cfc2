package contract

import (
	"fmt"
	"time"
)

// Newest is the contract that was published last, also of a tool that was retired.
func (t *Tool) Newest() *Contract { return t.newest().contract }

// Window is how the current contract accepts revision n; ok is false when it does
// not, and for the current one there is no end.
func (t *Tool) Window(n int) (w Window, ok bool) { return t.window(n) }

// PublishedAt is when revision n was published, and how it changed against the one
// before. Both are zero for a revision that never was, and for built-in tools.
func (t *Tool) PublishedAt(n int) (at time.Time, kind string) {
	if r := t.revision(n); r != nil {
		return r.at, r.kind
	}
	return time.Time{}, ""
}

// Steps lists the declared steps from revision n to the current one, in order. It
// is empty where nothing has to be adapted.
func (t *Tool) Steps(n int) (out []Step) {
	if r := t.revision(n); r == nil || t.Current == nil || r.contract.SameAs(t.Current) {
		return nil
	}
	for i, r := range t.revisions {
		if i > 0 && r.contract.Revision > n {
			out = append(out, r.accepts[t.revisions[i-1].contract.Revision].Adapt...)
		}
	}
	return out
}

// AdaptedFrom reads the revision that a call was built on from the words of its
// adapter (Resolution.Adapter); 0 where there was none.
func AdaptedFrom(adapter string) (revision int) {
	if _, err := fmt.Sscanf(adapter, "revision %d", &revision); err != nil {
		return 0
	}
	return revision
}
