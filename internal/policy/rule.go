package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/target"
)

// A Rule is what the operator decided ahead of time about a kind of call. Where
// it applies, its level stands in the place of the default by effect; floors of
// credentials and hosts hold all the same.
//
// A rule on SSH names a Host, and perhaps a command; a rule on HTTP names
// Methods and a Target; either may name a Tool. One that widens (levels none
// and session) names the place and, for HTTP, the methods: nothing is opened by
// leaving a part out. The stored form of
//
//	executor rule add status --tool ssh_exec --host web-1 --argv 'systemctl status *' --approval session
//
// is
//
//	{"approval":"session","tool":"ssh_exec","host":"web-1","argv":"systemctl status *","created":"2026-11-30T20:00:00Z"}
type Rule struct {
	Name    string `json:"-"`
	Version int    `json:"-"`
	// Approval is the level; a stored rule without one denies.
	Approval action.Level `json:"approval"`
	// Tool is the name of the tool that it is for, or "" for any.
	Tool string `json:"tool,omitempty"`
	// Host is the operator's name of an SSH destination.
	Host string `json:"host,omitempty"`
	// Argv is the command as plain shell words, where an unquoted * alone stands
	// for one argument that does not begin with "-". "" is any command.
	Argv string `json:"argv,omitempty"`
	// Env names the variables that a call under the rule may set, Stdin says that
	// it may have standard input. Rules that do not widen apply whatever a call sets.
	Env   []string `json:"env,omitempty"`
	Stdin bool     `json:"stdin,omitempty"`
	// Methods are HTTP methods in upper case; none is any.
	Methods []string `json:"methods,omitempty"`
	// Target is an HTTP target pattern, matched by segment.
	Target  string    `json:"target,omitempty"`
	Created time.Time `json:"created"`
	// Expires ends the rule, by the wall clock. Zero: it does not expire.
	Expires time.Time `json:"expires,omitzero"`
	// MaxCalls is how many calls it lets run unasked in all, 0 without end.
	MaxCalls int `json:"max_calls,omitempty"`

	words   []word
	pattern target.Pattern
}

var toolRE = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// Widens reports whether the rule can let a call run that would be asked about.
func (r *Rule) Widens() bool { return r.Approval >= action.Session }

// Check refuses a rule that could not be used as it stands, or that would widen
// by what it leaves out. It brings the target to its one spelling.
func (r *Rule) Check() error {
	if err := CheckName(r.Name); err != nil {
		return err
	}
	return r.compile()
}

func (r *Rule) compile() error {
	ssh := r.Host != "" || r.Argv != "" || len(r.Env) > 0 || r.Stdin
	http := r.Target != "" || len(r.Methods) > 0
	switch {
	case ssh && http:
		return fmt.Errorf("a rule is on a host or on a target, not on both")
	case !ssh && !http && r.Tool == "":
		return fmt.Errorf("the rule names nothing: say what it is for with --tool, --host or --target")
	case ssh && r.Host == "":
		return fmt.Errorf("a rule on a command names the host with --host")
	case r.Tool != "" && !toolRE.MatchString(r.Tool):
		return fmt.Errorf("tool %q: the name of a tool has letters, digits, '_', '.' and '-'", r.Tool)
	}
	if r.Host != "" {
		if err := CheckName(r.Host); err != nil {
			return fmt.Errorf("host: %w", err)
		}
	}
	if err := r.checkBounds(); err != nil {
		return err
	}
	if err := r.checkWide(); err != nil {
		return err
	}
	if err := r.compileCommand(); err != nil {
		return err
	}
	return r.compileTarget()
}

func (r *Rule) checkWide() error {
	switch {
	case !r.Widens():
		return nil
	case r.Host == "" && r.Target == "":
		return fmt.Errorf("a rule at level %s names a place: say which with --host or --target", r.Approval)
	case r.Target != "" && len(r.Methods) == 0:
		return fmt.Errorf("a rule at level %s on a target names the methods: say which with --method", r.Approval)
	}
	return nil
}

func (r *Rule) checkBounds() error {
	switch {
	case r.MaxCalls < 0:
		return fmt.Errorf("max-calls %d: 1 or more is due", r.MaxCalls)
	case r.MaxCalls > 0 && !r.Widens():
		return fmt.Errorf("max-calls counts the calls that run unasked, and at level %s none does", r.Approval)
	case !r.Expires.IsZero() && !r.Expires.After(r.Created):
		return fmt.Errorf("the rule would be over before it begins")
	}
	return nil
}

func (r *Rule) compileCommand() error {
	slices.Sort(r.Env)
	r.Env = slices.Compact(r.Env)
	for _, name := range r.Env {
		if name == "" || strings.ContainsAny(name, "= ") || strings.ContainsFunc(name, isControl) {
			return fmt.Errorf("env %q is not the name of a variable", name)
		}
	}
	if r.Argv == "" {
		return nil
	}
	words, err := split(r.Argv, true)
	switch {
	case err != nil:
		return fmt.Errorf("argv %q: %w; a rule holds for plain words, and * alone stands for one argument", r.Argv, err)
	case words[0].any:
		return fmt.Errorf("argv %q: the program is named, * stands for an argument", r.Argv)
	}
	r.words = words
	return nil
}

func (r *Rule) compileTarget() error {
	for i, m := range r.Methods {
		if r.Methods[i] = strings.ToUpper(m); !httpMethod(r.Methods[i]) {
			return fmt.Errorf("method %q is not one of GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE", m)
		}
	}
	slices.Sort(r.Methods)
	r.Methods = slices.Compact(r.Methods)
	if r.Target == "" {
		return nil
	}
	p, err := target.ParsePattern(r.Target)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	if p.Scheme() == "ssh" {
		return fmt.Errorf("target %s: a rule names an SSH destination with --host", p)
	}
	r.Target, r.pattern = p.String(), p
	return nil
}

func httpMethod(m string) bool {
	return slices.Contains([]string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}, m)
}

// Ref names the rule's version.
func (r *Rule) Ref() Ref { return Ref{KindRule, r.Name, r.Version} }

// Title is the rule by name and version, as the journal's basis begins.
func (r *Rule) Title() string { return fmt.Sprintf("rule %s version %d", r.Name, r.Version) }

// Text is the rule's title and scope, in words.
func (r *Rule) Text() string { return r.Title() + ": " + r.Scope() }

// Scope says in words what the rule is for.
func (r *Rule) Scope() string {
	var parts []string
	if r.Tool != "" {
		parts = append(parts, "tool "+r.Tool)
	}
	switch {
	case r.Argv != "":
		parts = append(parts, "on "+r.Host+": "+r.Argv)
	case r.Host != "":
		parts = append(parts, "anything on "+r.Host)
	case r.Target != "" || len(r.Methods) > 0:
		parts = append(parts, r.methodText()+" "+r.placeText())
	}
	if len(r.Env) > 0 {
		parts = append(parts, "may set "+strings.Join(r.Env, " and "))
	}
	if r.Stdin {
		parts = append(parts, "with standard input")
	}
	if !r.Expires.IsZero() {
		parts = append(parts, "until "+r.Expires.UTC().Format(time.RFC3339))
	}
	if r.MaxCalls > 0 {
		parts = append(parts, "at most "+strconv.Itoa(r.MaxCalls)+" calls")
	}
	return strings.Join(parts, ", ")
}

func (r *Rule) methodText() string {
	if len(r.Methods) == 0 {
		return "any method"
	}
	return strings.Join(r.Methods, "/")
}

func (r *Rule) placeText() string {
	if r.Target == "" {
		return "anywhere"
	}
	return "under " + r.Target
}
