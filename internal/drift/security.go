package drift

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxReadable is the longest text that is searched for phrases and URLs. A longer
// one is a finding by itself.
const maxReadable = 128 << 10

// seen is what the old texts already held: exact texts, and their phrases and
// URLs, looked for once a new text makes it worth while.
type seen struct {
	texts         map[string]bool
	phrases, urls map[string]bool
}

func newSeen(v any) *seen {
	s := &seen{texts: map[string]bool{}}
	eachString(v, "", func(_, text string) { s.texts[text] = true })
	return s
}

func (s *seen) look() {
	if s.phrases != nil {
		return
	}
	s.phrases, s.urls = map[string]bool{}, map[string]bool{}
	for text := range s.texts {
		if len(text) > maxReadable {
			continue
		}
		for _, p := range phrases(text) {
			s.phrases[strings.ToLower(p)] = true
		}
		for _, u := range urls(text) {
			s.urls[u] = true
		}
	}
}

// eachString calls f for every string of a value, keys included, with its path.
func eachString(v any, path string, f func(path, text string)) {
	switch v := v.(type) {
	case string:
		f(path, v)
	case []any:
		for i, e := range v {
			eachString(e, path+"."+itoa(i), f)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			f(path+"."+k, k)
			eachString(v[k], path+"."+k, f)
		}
	case overDeep:
		f(path, string(v))
	}
}

// scan looks at every string of a tool that the old one did not have.
func (d *differ) scan(t, old *Tool, names map[string]string) {
	var before any
	if old != nil {
		before = old.fields
	}
	had := newSeen(before)
	for _, k := range sortedKeys(t.fields) {
		eachString(t.fields[k], t.Name+"."+k, func(path, text string) {
			d.scanText(t.Name, path, text, had)
		})
	}
	if old == nil {
		d.scanText(t.Name, t.Name, t.Name, had)
	}
	d.propertyNames(t, old, names)
}

func (d *differ) scanText(tool, path, text string, had *seen) {
	if had.texts[text] {
		return
	}
	if points := hidden(text); len(points) > 0 {
		d.sec(Change{Tool: tool, Rule: "sec-hidden-unicode", Path: path, Level: "error", Codepoints: points})
	}
	if escape(text) {
		d.sec(Change{Tool: tool, Rule: "sec-ansi-escape", Path: path, Level: "error"})
	}
	if len(text) > maxReadable {
		d.sec(Change{Tool: tool, Rule: "sec-instruction-phrase", Path: path, Level: "warning",
			Reason: "a text of " + itoa(len(text)) + " bytes is not read for phrases"})
		return
	}
	if p, u := phrases(text), urls(text); len(p)+len(u) > 0 {
		had.look()
		d.wordings(tool, path, p, u, had)
	}
}

func (d *differ) wordings(tool, path string, phrases, urls []string, had *seen) {
	for _, phrase := range phrases {
		if !had.phrases[strings.ToLower(phrase)] {
			d.sec(Change{Tool: tool, Rule: "sec-instruction-phrase", Path: path, Level: "warning", Hint: phrase})
			break
		}
	}
	for _, u := range urls {
		if !had.urls[u] && !specification(path, u) {
			d.sec(Change{Tool: tool, Rule: "sec-new-url", Path: path, Level: "warning", Hint: u})
		}
	}
}

func (d *differ) sec(c Change) {
	c.Security = true
	d.add(c)
}

// hidden lists the characters that a reader does not see: formats (Cf: zero-width,
// bidi, TAG block), variation selectors, blank letters and controls other than
// line breaks, tabs and ESC, which is sec-ansi-escape's.
func hidden(text string) []string {
	var out []string
	for _, r := range text {
		if !invisible(r) {
			continue
		}
		if point := codepoint(r); !slices.Contains(out, point) {
			out = append(out, point)
		}
	}
	return out
}

func invisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), 0xE0000 <= r && r <= 0xE0FFF:
		return true
	case r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0, r == 0x2800,
		r == 0x2028, r == 0x2029, unicode.Is(unicode.Co, r):
		return true
	}
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' && r != 0x1b && r != 0x9b
}

// escape finds what a terminal would obey: ESC and CSI, raw or written out.
func escape(text string) bool {
	return strings.ContainsAny(text, "\x1b\u009b") || strings.Contains(text, `\`) && writtenEscape.MatchString(text)
}

var writtenEscape = regexp.MustCompile(`(?i)(\\x1b|\\u001b|\\033|\\e)\[[0-9;?]*[a-z]`)

// phrases lists the pieces of a text that speak to the model instead of about the tool.
func phrases(text string) []string {
	plain := strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if invisible(r) && r != 0x2028 && r != 0x2029 {
			return -1
		}
		return r
	}, text)), " ")
	var out []string
	for _, re := range instructionPhrases {
		if m := re.FindString(plain); m != "" {
			out = append(out, m)
		}
	}
	return out
}

// instructionPhrases is a net with wide meshes: what it finds is a warning, and
// what it does not find is not thereby harmless.
var instructionPhrases = compileAll(
	`\b(ignore|disregard|forget|override)\b[^.]{0,30}\b(previous|prior|above|earlier|other|all|any|your)\b[^.]{0,30}\b(instructions?|prompts?|rules?|guidelines?|messages?|context|tools?)\b`,
	`\b(do not|don't|dont|never|without)\b[^.]{0,24}\b(mention(ing)?|tell(ing)?|inform(ing)?|reveal(ing)?|disclos(e|ing)|show(ing)?|notify(ing)?|ask(ing)?|alert(ing)?|report(ing)?)\b[^.]{0,40}\b(users?|humans?|operators?|anyone|anybody|them|person)\b`,
	`\b(hide|conceal|keep)\b[^.]{0,30}\bfrom (the )?(users?|humans?|operators?)\b`,
	`\balways (also|first)\b`,
	`\b(also|additionally|silently|secretly|quietly)\b[^.]{0,20}\b(copy|forward|send|bcc|cc|upload|post|include|append|attach|leak|exfiltrate)\b`,
	`\b(silently|secretly|covertly)\b`,
	`\bsystem (prompt|message|instructions?)\b`,
	`\byou (must|are now|have to|need to)\b`,
	`\b(before|after|instead of|prior to) (using|calling|invoking|running) (this|any|other|another|the)\b[^.]{0,40}\btools?\b`,
	`<\s*/?\s*(important|system|instructions?|assistant|secret|hidden|admin)\s*>`,
	`\[\s*(important|system|instructions?)\s*\]`,
	`\b(read|open|cat|include|send|pass)\b[^.]{0,40}(~/\.|\.ssh|id_rsa|\.env\b|\.aws|credentials?\b[^.]{0,12}\bfiles?|api[_ ]?keys?|passwords?|private keys?)`,
	`\bnew instructions?\b`,
	`\bdo not (use|call) any other\b`,
)

func compileAll(patterns ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = regexp.MustCompile(`(?i)` + p)
	}
	return out
}

var urlPattern = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]{1,20}://|data:[a-z]+/|javascript:|mailto:|www\.)[^\s"'<>)\]}]+`)

func urls(text string) []string {
	var out []string
	for _, u := range urlPattern.FindAllString(text, 64) {
		out = append(out, strings.TrimRight(u, ".,;:!?"))
	}
	return out
}

// specification excuses URLs that no model follows: the dialect's name, and icons.
func specification(path, u string) bool {
	field := path[strings.LastIndex(path, ".")+1:]
	if field == "$schema" && dialectOf(u) != foreign {
		return true
	}
	_, rest, _ := strings.Cut(path, ".")
	return strings.HasPrefix(rest, "icons.")
}
