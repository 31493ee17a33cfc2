package console_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"executor/internal/action"
	"executor/internal/term"
)

// cleanBytes fails if anything but text and line ends was written.
func cleanBytes(t interface{ Errorf(string, ...any) }, out string) {
	for i, r := range out {
		_, n := utf8.DecodeRuneInString(out[i:])
		if r != '\n' && r != '\r' && r != ' ' && (!unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) || (r == utf8.RuneError && n == 1)) {
			t.Errorf("%q was written, in %q", r, out[max(0, i-20):min(len(out), i+20)])
			return
		}
	}
	if rest := strings.ReplaceAll(out, "\r\n", ""); strings.Contains(rest, "\r") {
		t.Errorf("a bare carriage return was written")
	}
}

// ungutter joins the lines behind the marks as they were before they were cut:
// "  | " begins a line, "  : " continues it.
func ungutter(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "  : "):
			b.WriteString(line[4:])
		case strings.HasPrefix(line, "  | "):
			b.WriteString("\n" + line[4:])
		default:
			b.WriteString("\n" + line)
		}
	}
	return b.String()
}

// Whatever is typed, without a y or an e there is no yes, and the console goes on.
func FuzzTyped(f *testing.F) {
	for _, s := range []string{"\n", "n\n", "n why\nb\nb\n", "\x1b[200~x\x1b[201~\n", "\x1bO\x1b[1;5A\x15\x7f\x7f", "\x00\x04\xff\xe2\x82\n", strings.Repeat("x", 3000)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, typed []byte) {
		b := newBench(t, 80, 24, nil)
		defer b.end()
		call := b.ask(request("uptime"))
		b.prompt()
		b.types(strings.NewReplacer("y", "z", "e", "z").Replace(string(typed[:min(len(typed), 2000)])))
		b.poll("all is read", func() bool { return b.unread() == 0 })
		b.desk.EndSession(b.ctx, "s1")
		if got := b.got(call); got.err == nil {
			t.Errorf("%q allowed it", typed)
		}
		cleanBytes(t, strings.ReplaceAll(b.written(), "\b \b", ""))
	})
}

// For any text: no control character of it reaches the terminal, and all of it
// can be found on the pages.
func TestAnyText(t *testing.T) {
	nasty := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z\x00-\x1f\x7f\x{80}-\x{9f}\x{202a}-\x{202e}\x{200b} ]{0,300}`),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }),
		rapid.StringMatching(`(\n|  |           |日本|== |> |y\n){0,60}`))
	rapid.Check(t, func(rt *rapid.T) {
		text := nasty.Draw(rt, "text")
		size := rapid.SampledFrom(sizes).Draw(rt, "size")
		b := newBench(t, size.cols, size.rows, nil)
		defer b.end()
		r := request(text)
		r.Level = rapid.SampledFrom([]action.Level{action.Session, action.Call, action.Presence}).Draw(rt, "level")
		b.forget()
		b.ask(r)
		out := b.prompt()
		for strings.Contains(b.written(), "Space: next") {
			b.types(" ")
			out += "\n" + b.prompt()
		}
		cleanBytes(rt, out)
		// The heads and prompts between two pages are the console's own lines.
		var own []string
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") { // a head goes on behind three spaces
				own = append(own, line)
			}
		}
		shown := ungutter(strings.Join(own, ""))
		for _, line := range term.Block(text) {
			if !strings.Contains(shown, line) {
				rt.Errorf("line %q is on no page:\n%s", line, out)
			}
		}
	})
}
