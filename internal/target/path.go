package target

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizePath gives a path its one spelling and refuses every path that a
// server could resolve to another one.
func normalizePath(path string) (string, error) {
	if path == "" {
		return "/", nil
	}
	out, err := normalizeEncoding(path, isPathChar)
	if err != nil {
		return "", errors.New("in the path " + err.Error())
	}
	segments := strings.Split(out[1:], "/")
	for i, segment := range segments {
		bare, _, _ := strings.Cut(segment, ";")
		if bare == "" && i < len(segments)-1 {
			return "", errors.New("the path has an empty segment (//), which servers resolve differently; write one slash")
		}
		if err := checkSegment(segment, 0); err != nil {
			return "", err
		}
	}
	return out, nil
}

// maxDecodings is how often a segment may be decodable. Nobody means more than two.
const maxDecodings = 5

// checkSegment looks at a segment as a server may see it after any number of
// decodings and compatibility mappings (NFKC turns full-width dots, slashes and
// percent signs into plain ones).
func checkSegment(segment string, level int) error {
	if level > maxDecodings {
		return errors.New("the path is percent-encoded many times over; encode it once")
	}
	if err := checkDecoded(segment); err != nil {
		return err
	}
	for _, next := range []string{decodeOnce(segment), norm.NFKC.String(segment)} {
		if next == segment {
			continue
		}
		if err := checkSegment(next, level+1); err != nil {
			return err
		}
	}
	return nil
}

func checkDecoded(segment string) error {
	bare, _, _ := strings.Cut(segment, ";")
	bare = strings.TrimSpace(bare)
	switch {
	case !utf8.ValidString(segment):
		return errors.New("the path has an escape that is not UTF-8")
	case strings.ContainsFunc(segment, unicode.IsControl):
		return errors.New("the path has an encoded control character; leave it out")
	case strings.ContainsAny(segment, `/\`):
		return errors.New("the path has an encoded slash or backslash, which servers resolve differently; write / between segments only")
	case bare == "." || bare == "..":
		return errors.New("the path has a dot segment (. or .., in whatever encoding); write the path that it leads to")
	}
	return nil
}
