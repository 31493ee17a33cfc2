package journal

// A Verdict is what Verify makes of a journal, from good to bad:
//
//	ok          everything holds
//	crash-tail  everything holds; the last entries are beyond the pin, as after
//	            a crash between a commit and its pin line
//	cannot-say  nothing speaks against it, but something that was needed to
//	            tell is missing or unreadable
//	damaged     SQLite cannot read it as a sound database
//	rolled-back consistent in itself, but shorter than a pin, or not what was pinned
//	tampered    sound as a database, but rows, hashes, signatures or schema
//	            contradict each other. A flipped bit inside a value looks the same.
type Verdict string

// The verdicts.
const (
	VerdictOK         Verdict = "ok"
	VerdictCrashTail  Verdict = "crash-tail"
	VerdictCannotSay  Verdict = "cannot-say"
	VerdictDamaged    Verdict = "damaged"
	VerdictRolledBack Verdict = "rolled-back"
	VerdictTampered   Verdict = "tampered"
)

func (v Verdict) rank() int {
	switch v {
	case VerdictOK:
		return 0
	case VerdictCrashTail:
		return 1
	case VerdictCannotSay:
		return 2
	case VerdictDamaged:
		return 3
	case VerdictRolledBack:
		return 4
	}
	return 5
}

// A Head is the size and root that a log had at some time, and where that was kept.
type Head struct {
	Size int64
	Root [32]byte
	From string // such as "the vault"
}

// VerifyOptions say what to trust beside the files themselves.
type VerifyOptions struct {
	// Key is a note verifier key that is known from elsewhere, and KeyFrom where
	// from. With "" the key in journal.pub is trusted, which proves only that
	// the log agrees with a file that lies beside it.
	Key, KeyFrom string
	// Others are keys that are known from further places, and must be the same.
	Others []KnownKey
	// Heads must be extended by the log.
	Heads []Head
	// Against are checkpoints that were kept elsewhere: signed notes, which must
	// be signed by the trusted key and extended by the log.
	Against []Note
	// Since, if set, is such a checkpoint of a log that was verified then:
	// only the entries after it are read, and the stored tree up to it is
	// compared with its root. That proves the entries, and not what a filter
	// shows: columns, lookups and indexes up to it are not looked at.
	Since *Note
}

// A KnownKey is a verifier key and where it is known from.
type KnownKey struct{ Key, From string }

// A Note is a checkpoint as journal checkpoint printed it, and where it was kept.
type Note struct {
	Text []byte
	From string
}

// A Report is the outcome of Verify. Its JSON names are stable.
type Report struct {
	Verdict     Verdict   `json:"verdict"`
	Size        int64     `json:"size"`        // entries
	Since       int64     `json:"since"`       // entries that were taken as verified before; 0 for all
	Redacted    int64     `json:"redacted"`    // texts that a redaction took out
	Root        string    `json:"root"`        // base64, as in a checkpoint; empty when the tree is broken
	Checkpoints int64     `json:"checkpoints"` // signatures that were checked
	Unsettled   int64     `json:"unsettled"`   // intents without an outcome
	Pinned      int64     `json:"pinned"`      // size in journal.pin, -1 when unreadable
	Key         string    `json:"key"`         // the verifier key that was trusted
	KeyFrom     string    `json:"key_from"`
	KeySameAs   []string  `json:"key_same_as"` // further places that know this key
	Compared    []string  `json:"compared"`    // heads that the log was compared with, by name and size
	Findings    []Finding `json:"findings"`    // at most 100, the first bad entry first
}

// A Finding is one thing that is wrong.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	Seq     int64   `json:"seq"` // the entry, or 0 where it is not about one
	What    string  `json:"what"`
}

// FirstBad returns the lowest seq that a finding is about, or 0.
func (r Report) FirstBad() int64 {
	var first int64
	for _, f := range r.Findings {
		if f.Seq != 0 && (first == 0 || f.Seq < first) {
			first = f.Seq
		}
	}
	return first
}

const maxFindings = 100

func (r *Report) add(v Verdict, seq int64, what string) {
	if v.rank() > r.Verdict.rank() {
		r.Verdict = v
	}
	if len(r.Findings) < maxFindings {
		r.Findings = append(r.Findings, Finding{v, seq, what})
	}
}
