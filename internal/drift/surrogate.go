package drift

import (
	"strconv"
	"unicode/utf16"
)

// loneSurrogate says whether a JSON string literal escapes half of a surrogate pair.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if i >= len(text) || text[i] != 'u' {
			continue
		}
		high, ok := hex4(text, i+1)
		i += 4
		if !ok || !utf16.IsSurrogate(high) {
			continue
		}
		low, ok := hex4(text, i+3)
		if !ok || text[i+1] != '\\' || text[i+2] != 'u' || utf16.DecodeRune(high, low) == '\uFFFD' {
			return true
		}
		i += 6
	}
	return false
}

func hex4(text []byte, at int) (rune, bool) {
	if at+4 > len(text) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[at:at+4]), 16, 16)
	return rune(n), err == nil
}
