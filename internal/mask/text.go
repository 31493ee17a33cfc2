package mask

import (
	"bytes"
	"strings"
)

const (
	maskBegin = "[credential "
	maskEnd   = "]"
	maskMax   = 256 // bytes of a name that HasMask looks for the end of

	// withheld stands in for a name where a Set cannot mask.
	withheld = "withheld"
)

// Mask returns what a secret of the named credential is replaced by.
func Mask(name string) string { return maskBegin + name + maskEnd }

// HasMask reports whether s contains a mask of any name, as it is or escaped.
// An agent that sends one back has taken it for a value.
func HasMask(s string) bool {
	s = string(bytes.ReplaceAll(fold([]byte(s)), []byte("+"), []byte(" ")))
	for {
		_, rest, ok := strings.Cut(s, maskBegin)
		if !ok {
			return false
		}
		if strings.Contains(rest[:min(len(rest), maskMax)], maskEnd) {
			return true
		}
		s = rest
	}
}
