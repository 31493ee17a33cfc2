package publish

import (
	"encoding/json"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"
)

// texts are strings for a schema: the argument's own name first, so that two
// arguments in each other's place are seen, then bounds, then what tries to leave
// its place.
func texts(s map[string]any, name string) []json.RawMessage {
	var list []string
	if sample, ok := formats()[word(s["format"])]; ok {
		list = append(list, sample...)
	}
	if p, ok := s["pattern"].(string); ok {
		list = append(list, matching(p)...)
	}
	least, bounded := number(s["minLength"])
	most, capped := number(s["maxLength"])
	plain := name
	if bounded && least < 1<<16 {
		list = append(list, fit(plain, int(least)), fit("x", int(least)))
	}
	if capped && most < 1<<12 {
		list = append(list, fit(plain, int(most)))
		plain = plain[:min(len(plain), int(most))]
	}
	list = append([]string{plain}, list...)
	list = append(list, "a", "", "0", "true", "null", "é€😀", " ", "a b", "../..", "..", "a/b", "a?b=c&d=e#f", "%2e%2e%2f", "%", "+",
		"-x", "--", "{"+name+"}", "$(id)", "'\"\\`;|&", "*", "a\nb", "\r\nX-A: b", "\x00", "<>", "http://h.example/", ",", "a=b", strings.Repeat("x", 300))
	out := make([]json.RawMessage, len(list))
	for i, v := range list {
		out[i] = raw(v)
	}
	if p, ok := s["pattern"].(string); ok && p != "" && len(matching(p)) > 0 {
		// What fits comes first, or the other arguments would never be tried.
		out = append(every(anys(matching(p))), out...)
	}
	return out
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// fit stretches or cuts ASCII text to n characters.
func fit(s string, n int) string {
	if len(s) >= n {
		return s[:n]
	}
	return s + strings.Repeat("x", n-len(s))
}

func word(v any) string {
	s, _ := v.(string)
	return s
}

func formats() map[string][]string {
	return map[string][]string{
		"date": {"2026-12-01"}, "date-time": {"2026-12-01T10:00:00Z"}, "time": {"10:00:00Z"},
		"email": {"a@b.example"}, "hostname": {"h.example"}, "ipv4": {"192.0.2.1"}, "ipv6": {"2001:db8::1"},
		"uri": {"https://h.example/a"}, "uuid": {"01234567-89ab-7def-8123-456789abcdef"},
	}
}

// numbers are a schema's bounds and their neighbours, and spellings of one value.
func numbers(s map[string]any, whole bool) []json.RawMessage {
	var out []json.RawMessage
	add := func(f float64) {
		out = append(out, json.RawMessage(strconv.FormatFloat(f, 'f', -1, 64)))
	}
	step, ok := number(s["multipleOf"])
	if !ok || step <= 0 {
		step = 1
	}
	for _, bound := range []string{"minimum", "exclusiveMinimum"} {
		if f, ok := number(s[bound]); ok {
			first := math.Ceil(f/step) * step
			add(first)
			add(first + step)
		}
	}
	for _, bound := range []string{"maximum", "exclusiveMaximum"} {
		if f, ok := number(s[bound]); ok {
			last := math.Floor(f/step) * step
			add(last)
			add(last - step)
		}
	}
	for _, f := range []float64{1, 0, 2, -1, 10, 3} {
		add(f * step)
	}
	out = append(out, json.RawMessage("9007199254740993"))
	if !whole {
		out = append(out, json.RawMessage("1.5"), json.RawMessage("1.10"), json.RawMessage("1e3"))
	}
	return out
}

func number(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// matching makes a few texts that a regular expression takes, as far as its
// operators are plain.
func matching(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []string
	for more := range 3 {
		var b strings.Builder
		match(&b, re, more)
		if n := len(out); n == 0 || out[n-1] != b.String() {
			out = append(out, b.String())
		}
	}
	return out
}

// match writes a text that re takes; more is how much longer than the shortest
// one, and which of its choices.
func match(b *strings.Builder, re *syntax.Regexp, more int) {
	repeat := func(least, most int) {
		n := least + more
		if most >= 0 {
			n = min(n, most)
		}
		for range min(n, 1<<10) {
			match(b, re.Sub[0], more)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			at := 2 * (more % (len(re.Rune) / 2))
			b.WriteRune(min(re.Rune[at]+rune(more), re.Rune[at+1]))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteString("x")
	case syntax.OpCapture:
		match(b, re.Sub[0], more)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			match(b, sub, more)
		}
	case syntax.OpAlternate:
		match(b, re.Sub[more%len(re.Sub)], more)
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	}
}
