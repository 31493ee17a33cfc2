package term

import "fmt"

// Warning is one line for the reader, without a full stop:
// "contains 3 control characters (shown as \x1b)". It is safe to show.
func (f Finding) Warning() string {
	switch f.Kind {
	case Control:
		return f.counted("control character", "control characters", "shown as")
	case Bidi:
		return f.counted("character that reverses the order of text", "characters that reverse the order of text", "shown as")
	case Invisible:
		return f.counted("invisible character", "invisible characters", "shown as")
	case BadUTF8:
		return f.counted("byte that is not UTF-8", "bytes that are not UTF-8", "shown as")
	case Confusable:
		return f.counted("word with letters that only look alike", "words with letters that only look alike", "the first is")
	case RightToLeft:
		return f.counted("right-to-left letter", "right-to-left letters", "the order on screen may differ; the first is")
	case Spaces:
		return fmt.Sprintf("contains a run of %d spaces", f.Count)
	}
	return "contains something unusual"
}

func (f Finding) counted(one, many, verb string) string {
	noun := many
	if f.Count == 1 {
		noun = one
	}
	if f.Count > 1 && verb == "shown as" {
		verb = "the first shown as"
	}
	return fmt.Sprintf("contains %d %s (%s %s)", f.Count, noun, verb, f.Example)
}
