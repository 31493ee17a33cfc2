package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// ErrNotPlain: a command line is more than words. The text says in what.
var ErrNotPlain = errors.New("not plain words")

// maxLine is the longest command line that is looked at, in bytes.
const maxLine = 8192

// anyWord, unquoted and alone, stands for one argument in the command of a rule.
const anyWord = "*"

// bareBytes are what a word may hold outside of quotes: nothing of it means
// anything to any of the usual shells.
const bareBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%+,-./:=@_"

// A word is one word of a command, without its quotes.
type word struct {
	text string
	any  bool // an unquoted *
}

// PlainWords splits a shell command line that starts one program with literal
// arguments. Operators, expansions, globs, assignments, redirections, comments,
// control characters and line breaks are ErrNotPlain, and so is whatever the
// usual shells (sh, bash, zsh, fish) do not all read alike.
func PlainWords(line string) ([]string, error) {
	words, err := split(line, false)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
	}
	return out, nil
}

func split(line string, wildcards bool) ([]word, error) {
	switch {
	case len(line) > maxLine:
		return nil, fmt.Errorf("%w: longer than %d bytes", ErrNotPlain, maxLine)
	case !utf8.ValidString(line) || strings.ContainsFunc(line, isControl):
		return nil, fmt.Errorf("%w: a control character or a line break", ErrNotPlain)
	}
	call, err := onlyCall(line)
	if err != nil {
		return nil, err
	}
	var words []word
	for _, w := range call.Args {
		one, err := literal(w, wildcards)
		if err != nil {
			return nil, err
		}
		words = append(words, one)
	}
	// A semicolon or a comment may stand behind the last word.
	if strings.Trim(line[call.End().Offset():], " ") != "" {
		return nil, fmt.Errorf("%w: something after the words", ErrNotPlain)
	}
	return words, nil
}

// onlyCall parses a line that is one simple command.
func onlyCall(line string) (*syntax.CallExpr, error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) != 1 {
		return nil, fmt.Errorf("%w: not one command", ErrNotPlain)
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case !ok || s.Negated || s.Background || s.Coprocess || len(s.Redirs) > 0:
		return nil, fmt.Errorf("%w: an operator, a redirection or a word of the shell", ErrNotPlain)
	case len(call.Assigns) > 0 || len(call.Args) == 0:
		return nil, fmt.Errorf("%w: an assignment", ErrNotPlain)
	}
	return call, nil
}

// literal is the text of a word that every shell takes literally.
func literal(w *syntax.Word, wildcards bool) (word, error) {
	if lit, ok := w.Parts[0].(*syntax.Lit); ok {
		switch {
		case wildcards && len(w.Parts) == 1 && lit.Value == anyWord:
			return word{any: true}, nil
		case strings.HasPrefix(lit.Value, "="): // zsh: the path of a program
			return word{}, fmt.Errorf("%w: a word that begins with =", ErrNotPlain)
		}
	}
	var text strings.Builder
	for _, part := range w.Parts {
		s, err := literalPart(part)
		if err != nil {
			return word{}, err
		}
		text.WriteString(s)
	}
	return word{text: text.String()}, nil
}

func literalPart(part syntax.WordPart) (string, error) {
	switch p := part.(type) {
	case *syntax.Lit:
		if strings.Trim(p.Value, bareBytes) == "" {
			return p.Value, nil
		}
	case *syntax.SglQuoted:
		if !p.Dollar && !strings.Contains(p.Value, `\`) {
			return p.Value, nil
		}
	case *syntax.DblQuoted:
		if s, ok := doubleQuoted(p); ok {
			return s, nil
		}
	}
	return "", fmt.Errorf("%w: an expansion, a pattern or an escape", ErrNotPlain)
}

func doubleQuoted(q *syntax.DblQuoted) (string, bool) {
	if q.Dollar {
		return "", false
	}
	text := ""
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.ContainsAny(lit.Value, "\\$`!") {
			return "", false
		}
		text += lit.Value
	}
	return text, true
}

// matches reports whether args are exactly the words. A * takes one argument
// that is not empty, begins with no "-" and holds no control character.
func matches(words []word, args []string) bool {
	if len(words) != len(args) {
		return false
	}
	for i, w := range words {
		switch {
		case !w.any && w.text != args[i]:
			return false
		case w.any && !Fills(args[i]):
			return false
		}
	}
	return true
}

// Fills reports whether an argument may stand where a rule's command has a *.
func Fills(arg string) bool {
	return arg != "" && arg[0] != '-' && utf8.ValidString(arg) && !strings.ContainsFunc(arg, isControl)
}
