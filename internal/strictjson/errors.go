package strictjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxProblems is how many problems an Errors lists before it says that there are more.
const MaxProblems = 20

// An Error is one thing that is wrong in a JSON text.
type Error struct {
	// Path is the JSON Pointer (RFC 6901) of the value or key, "" for the whole text.
	Path string
	// Problem says what is wrong and, where that is known, what would be right.
	// Key names in it are quoted and cut to a readable length.
	Problem string
}

// Error returns the path and the problem, with everything unprintable escaped.
func (e Error) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	quoted := strconv.Quote(e.Path)
	return quoted[1:len(quoted)-1] + ": " + e.Problem
}

// Errors lists what is wrong, in the order of the text. It is never empty when
// it is returned as an error.
type Errors []Error

// Error joins the problems with "; ".
func (e Errors) Error() string {
	parts := make([]string, len(e))
	for i, one := range e {
		parts[i] = one.Error()
	}
	return strings.Join(parts, "; ")
}

// Unwrap returns the entries, so that errors.As finds an Error.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, one := range e {
		out[i] = one
	}
	return out
}

// maxName is how many bytes of a key are repeated in a problem or a path.
const maxName = 80

func shorten(name string) string {
	if len(name) <= maxName {
		return name
	}
	cut := maxName
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + "…"
}

// pointerToken escapes a key for a JSON Pointer (RFC 6901 section 3).
func pointerToken(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(shorten(key))
}

// ownProblem words what a type's own decoding said.
func ownProblem(err error) string {
	var kind *json.UnmarshalTypeError
	var moment *time.ParseError
	switch {
	case errors.As(err, &kind):
		got, _, _ := strings.Cut(kind.Value, " ") // what follows are the digits
		return fmt.Sprintf("a %s does not fit here", got)
	case errors.As(err, &moment):
		return "want a time such as 2027-01-31T08:00:00Z (RFC 3339)"
	}
	return err.Error()
}
