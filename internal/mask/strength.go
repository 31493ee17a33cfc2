package mask

import "executor/internal/secret"

// A secret is strong from strongLen bytes with strongDistinct different values.
const (
	strongLen      = 16
	strongDistinct = 10
)

// A line of a strong secret of several lines is masked by itself from lineLen
// bytes with lineDistinct different values.
const (
	lineLen      = 12
	lineDistinct = 8
)

// Strong reports whether a secret can be masked. What holds one that is not strong
// is withheld.
func Strong(s *secret.Secret) (ok bool) {
	_ = s.Use(func(b []byte) error {
		ok = strong(b)
		return nil
	})
	return ok
}

func strong(b []byte) bool { return atLeast(b, strongLen, strongDistinct) }

func atLeast(b []byte, length, distinct int) bool {
	if len(b) < length {
		return false
	}
	var seen [256]bool
	n := 0
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n >= distinct
}
