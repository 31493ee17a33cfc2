package journal

import (
	"regexp"
	"time"
)

// Match lists values per field. Values of one field are alternatives; different
// fields must all hold; an empty list holds for everything.
type Match struct {
	Session    []string // session ids, whole
	Client     []string // names that clients gave themselves
	Tool       []string
	Target     []string // downstream_target
	Status     []string // of the outcome, Running included
	Decision   []string // decision.result
	Credential []string // names
	Revision   []int    // schema_revision
}

// A Filter selects activities, or sessions (for which only Since, Until,
// Session, Client, After, N and Reverse count). The zero Filter selects all.
type Filter struct {
	Match
	// Exclude drops what any of its fields matches.
	Exclude Match
	// Since and Until bound the time of the first entry, both inclusive; zero is open.
	Since, Until time.Time
	// Grep selects what it is found in: arguments, answers' facts, names, ids.
	Grep *regexp.Regexp
	// After selects what has a greater Seq: a cursor.
	After int64
	// N keeps the newest N; 0 keeps all.
	N int
	// Reverse gives the newest first. The order is always that of Seq.
	Reverse bool
}
