package executor

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"executor/internal/action"
	"executor/internal/policy"
	"executor/internal/target"
)

const (
	// habitAfter similar yeses the operator is told of the rule that would cover them.
	habitAfter = 3
	// maxHabits bounds what is remembered; the rest begins anew.
	maxHabits = 500
)

// Habits remember what the operator said yes to, by what is alike in it.
type habits struct {
	mu   sync.Mutex
	seen map[string]*habit
}

// A habit is a number of similar yeses, and a pattern that covers all of them.
type habit struct {
	times int
	words []string // of a command, "" where they differ
	path  string   // of a URL, as far as they agree
}

// noticeYes counts a yes, and tells the operator of a rule when it is the third
// of its kind. A floor that would hold against the rule makes it pointless.
func (w *work) noticeYes() {
	if w.cfg.Suggest == nil || w.bound.floor < action.Session || w.bound.level == action.Presence {
		return
	}
	var line string
	switch a := w.bound.action.(type) {
	case *action.SSH:
		line = w.habits.command(w.call.Tool, a)
	case *action.HTTP:
		line = w.habits.request(w.call.Tool, a)
	}
	if line != "" {
		w.cfg.Suggest(fmt.Sprintf("you said yes to %d calls like this; a rule would cover them: %s", habitAfter, line))
	}
}

// command notices a command of plain words. Alike are commands on one host of one
// program with as many words, which have "-" in the same places.
func (h *habits) command(tool string, a *action.SSH) string {
	args, err := policy.Args(a)
	if err != nil || len(a.Stdin.Bytes) > 0 || slices.Contains(args, "") {
		return ""
	}
	key := []string{tool, a.Host, args[0]}
	for _, arg := range args[1:] {
		if policy.Fills(arg) {
			arg = ""
		}
		key = append(key, arg)
	}
	rule := []string{"executor", "rule", "add", "--tool", tool, "--host", a.Host}
	for _, e := range a.Env {
		key = append(key, "env", e.Name)
		rule = append(rule, "--env", e.Name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.count(key)
	one.meetWords(args)
	pattern := one.pattern()
	would := policy.Rule{Name: "x", Approval: action.Session, Host: a.Host, Argv: pattern}
	if one.times != habitAfter || would.Check() != nil {
		return ""
	}
	return quoted(append(rule, "--argv", pattern, "--approval", "session"))
}

// request notices an HTTP request. Alike are requests of one method and origin
// whose paths begin with the same segment.
func (h *habits) request(tool string, a *action.HTTP) string {
	u, err := target.Parse(a.URL)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(u.Path(), "/"), "/")
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.count([]string{tool, a.Method, a.Origin, first})
	one.meetPath(u.Path())
	if one.times != habitAfter || one.path == "/" {
		return ""
	}
	return quoted([]string{"executor", "rule", "add", "--tool", tool, "--method", a.Method,
		"--target", a.Origin + one.path, "--approval", "session"})
}

func (h *habits) count(key []string) *habit {
	k := strings.Join(key, "\x00")
	if h.seen == nil || len(h.seen) >= maxHabits {
		h.seen = map[string]*habit{}
	}
	one := h.seen[k]
	if one == nil {
		one = &habit{}
		h.seen[k] = one
	}
	one.times++
	return one
}

func (h *habit) meetWords(args []string) {
	if h.times == 1 {
		h.words = slices.Clone(args)
		return
	}
	for i, arg := range args {
		if h.words[i] != arg {
			h.words[i] = ""
		}
	}
}

// pattern writes the words as a rule's command: * where they differed.
func (h *habit) pattern() string {
	words := make([]string, len(h.words))
	for i, w := range h.words {
		words[i] = "*"
		if w != "" {
			words[i] = quoted([]string{w})
		}
	}
	return strings.Join(words, " ")
}

// meetPath keeps the segments that all paths begin with.
func (h *habit) meetPath(path string) {
	if h.times == 1 {
		h.path = path
		return
	}
	n := 0
	for n < len(h.path) && n < len(path) && h.path[n] == path[n] {
		n++
	}
	atEnd := (n == len(h.path) || h.path[n] == '/') && (n == len(path) || path[n] == '/')
	if !atEnd {
		n = strings.LastIndexByte(path[:n], '/') + 1
	}
	h.path = path[:n]
}

// quoted writes words for a shell; "" where one cannot be written.
func quoted(words []string) string {
	line, err := action.QuotePOSIX(words)
	if err != nil {
		return ""
	}
	return line
}
