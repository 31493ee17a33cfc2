// Package term makes foreign text safe to show on a terminal. Whatever came
// from an agent, a server or a file goes through it before a person sees it; no
// other package prints such text.
//
// The threat is text that shows something else than it is: escape codes that
// erase a command and paint a harmless one, a carriage return over the start of a
// line, bidirectional controls that turn the order round, characters that take
// no place, and blanks that push the end out of sight.
//
// # The escaped form
//
// Safe shows letters, digits, punctuation, symbols and the space U+0020. The rest
// becomes an escape:
//
//	\n \r \t       line feed, carriage return, tab
//	\x1b           an ASCII control character
//	\xff           a byte that is not UTF-8
//	\u202e         any other rune that does not show, up to U+FFFF
//	\U000e0041     and beyond
//	\\             a backslash where a single one would read as one of these
//
// A backslash is doubled only before n, r, t, x, u, U and another backslash, so
// `sed 's/a\.b/c/'` stays as it is and `printf '\n'` shows as `printf '\\n'`. The
// form is exact: no two texts show the same. The brackets ⟨ and ⟩ (U+27E8, U+27E9) are
// escaped too, so that what stands between them is always this program's remark,
// such as ⟨37 spaces⟩.
//
// A combining mark without a letter to stand on, and every mark after the fourth
// on one letter, is escaped: marks can be piled over the lines above.
//
// Letters that look alike (Latin a and Cyrillic а) and right-to-left letters do
// show; Inspect finds them, and Finding.Warning words it.
package term
