package action

import (
	"errors"
	"strings"
)

// ErrNUL: an argument holds a NUL byte, which no process can be given.
var ErrNUL = errors.New("an argument holds a NUL byte")

// QuotePOSIX writes argv as one line for a POSIX shell, so that the shell starts
// exactly that: each argument goes through whole, whatever bytes it has. Words
// of letters, digits and %+,-./:=@_ stay bare; all else is single-quoted. The first word
// is quoted also when it holds "=", which would make it an assignment.
// An empty argv is an error, as is NUL.
func QuotePOSIX(argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("argv is empty: its first element is the program")
	}
	words := make([]string, len(argv))
	for i, arg := range argv {
		if strings.IndexByte(arg, 0) >= 0 {
			return "", ErrNUL
		}
		words[i] = quoteWord(arg, i == 0)
	}
	return strings.Join(words, " "), nil
}

func quoteWord(arg string, first bool) string {
	if arg != "" && strings.Trim(arg, bareBytes) == "" && !(first && needsQuotes(arg)) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

const bareBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_"

// needsQuotes reports whether a bare first word could be read as an assignment
// or a reserved word (if, time, case …), all of which are plain letters.
func needsQuotes(word string) bool {
	return strings.Contains(word, "=") || reservedWords[word]
}

var reservedWords = map[string]bool{
	"if": true, "then": true, "else": true, "elif": true, "fi": true, "do": true, "done": true,
	"case": true, "esac": true, "while": true, "until": true, "for": true, "in": true,
	"function": true, "select": true, "time": true, "coproc": true,
}
