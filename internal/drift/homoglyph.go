package drift

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes maps letters of other scripts to the Latin ones that they look like.
// It holds the common ones of Unicode's confusables (UTS #39).
var lookalikes = strings.NewReplacer(
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i", "ј", "j", "ѕ", "s", "һ", "h", "ԁ", "d",
	"ԛ", "q", "ԝ", "w", "ь", "b", "к", "k", "м", "m", "т", "t", "в", "b", "н", "h", "г", "r", "п", "n", "ӏ", "l",
	"А", "A", "В", "B", "Е", "E", "К", "K", "М", "M", "Н", "H", "О", "O", "Р", "P", "С", "C", "Т", "T", "Х", "X", "У", "Y",
	"І", "I", "Ј", "J", "Ѕ", "S", "α", "a", "ο", "o", "ρ", "p", "ν", "v", "ι", "i", "κ", "k", "τ", "t", "υ", "u", "γ", "y",
	"ε", "e", "η", "n", "χ", "x", "ω", "w", "Α", "A", "Β", "B", "Ε", "E", "Ζ", "Z", "Η", "H", "Ι", "I", "Κ", "K", "Μ", "M",
	"Ν", "N", "Ο", "O", "Ρ", "P", "Τ", "T", "Υ", "Y", "Χ", "X", "օ", "o", "ս", "u", "հ", "h", "ո", "n", "ց", "g", "ı", "i",
	"ɑ", "a", "ɡ", "g", "ⅼ", "l", "ꞌ", "'", "‐", "-", "‑", "-", "‒", "-", "–", "-", "﹍", "_", "＿", "_",
)

// skeleton is a name as the eye reads it: width and style folded, lookalikes Latin.
func skeleton(name string) string {
	if strings.IndexFunc(name, notASCII) < 0 {
		return name
	}
	return lookalikes.Replace(norm.NFKC.String(name))
}

// eyeForm goes on to fold what looks alike inside ASCII, for two names side by side.
func eyeForm(name string) string {
	return asciiTwins.Replace(skeleton(name))
}

var asciiTwins = strings.NewReplacer("I", "l", "1", "l", "|", "l", "0", "O", "rn", "m", "vv", "w")

// mixed says that a name has letters outside ASCII that pass for ASCII ones:
// scripts mixed in one word, or a word that reads as plain Latin and is not.
func mixed(name string) bool {
	if strings.IndexFunc(name, notASCII) < 0 {
		return false
	}
	latin, other := false, false
	for _, r := range name {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu)
	}
	return latin && other || strings.IndexFunc(skeleton(name), notASCII) < 0
}

// namesOf maps what each name of both snapshots looks like to the name.
func namesOf(snapshots ...*Snapshot) map[string]string {
	out := map[string]string{}
	for _, s := range snapshots {
		for _, t := range s.Tools {
			if _, ok := out[eyeForm(t.Name)]; !ok {
				out[eyeForm(t.Name)] = t.Name
			}
		}
	}
	return out
}

func (d *differ) homoglyph(tool, path, name string, others map[string]string) {
	c := Change{Tool: tool, Rule: "sec-homoglyph-name", Path: path, Name: name, Level: "error", Security: true}
	for _, r := range name {
		if r > 0x7f && len(c.Codepoints) < 16 {
			c.Codepoints = append(c.Codepoints, codepoint(r))
		}
	}
	twin := others[eyeForm(name)]
	switch {
	case twin != "" && twin != name:
		c.Hint = "looks like " + twin
	case !mixed(name):
		return
	}
	d.add(c)
}

func codepoint(r rune) string {
	const digits = "0123456789ABCDEF"
	out := []byte{}
	for ; r > 0 || len(out) < 4; r >>= 4 {
		out = append(out, digits[r&15])
	}
	slices.Reverse(out)
	return "U+" + string(out)
}

// propertyNames looks at argument and result names that the old tool did not have.
func (d *differ) propertyNames(t, old *Tool, names map[string]string) {
	for _, field := range []string{"inputSchema", "outputSchema"} {
		if old != nil && old.schemas[field] == t.schemas[field] {
			continue
		}
		before, after := map[string]string{}, map[string]string{}
		if old != nil {
			propertiesIn(old.fields[field], old.Name+"."+field, before)
		}
		propertiesIn(t.fields[field], t.Name+"."+field, after)
		var known map[string]string
		for _, path := range sortedKeys(after) {
			if _, had := before[path]; had {
				continue
			}
			if known == nil {
				known = eyeForms(before)
			}
			d.homoglyph(t.Name, path, after[path], known)
		}
	}
}

func eyeForms(names map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		out[eyeForm(name)] = name
	}
	return out
}

// propertiesIn collects path → name of every declared property.
func propertiesIn(v any, path string, out map[string]string) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			propertiesIn(e, path+"."+itoa(i), out)
		}
	case map[string]any:
		for k, e := range v {
			if named, ok := e.(map[string]any); ok && k == "properties" {
				for name := range named {
					out[path+".properties."+name] = name
				}
			}
			propertiesIn(e, path+"."+k, out)
		}
	}
}
