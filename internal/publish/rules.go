package publish

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"executor/internal/contract"

	"github.com/gowebpki/jcs"
)

// name refuses names that are this program's own.
func (j *judgement) name() error {
	own, err := contract.Builtin()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(own, func(t *contract.Tool) bool { return t.Name == j.Tool }) {
		j.refuse("built-in-name", j.Tool+" is a built-in tool", "choose another name")
		return nil
	}
	for _, prefix := range []string{"http_", "ssh_", "executor_"} {
		if strings.HasPrefix(j.Tool, prefix) {
			j.refuse("reserved-name", fmt.Sprintf("names that begin with %s are kept for built-in tools", prefix), "choose another name")
		}
	}
	return nil
}

// closed wants the schema that agents see to say what holds anyway.
func (j *judgement) closed() {
	var schema struct {
		Additional json.RawMessage `json:"additionalProperties"`
	}
	if json.Unmarshal(j.next.Input, &schema) != nil || string(schema.Additional) != "false" {
		j.refuse("input-open", "the input schema takes arguments that it does not name, and calls with such are always refused", "additionalProperties: false at the root of input")
	}
}

// known compares with what is published under the same number. same is true when
// there is nothing left to judge.
func (j *judgement) known() (same bool, err error) {
	for _, op := range j.ops {
		if op.File == nil || op.File.Revision != j.Revision {
			continue
		}
		equal, err := sameFile(op.File, j.file)
		if err != nil {
			return false, err
		}
		next := fmt.Sprintf("revision: %d", j.Previous+1)
		switch {
		case !equal:
			j.refuse("revision-exists", fmt.Sprintf("revision %d is published with other content, and a revision never changes", j.Revision), next)
		case j.Revision != j.Previous:
			j.refuse("not-current", fmt.Sprintf("revision %d is published, and the newest is %d", j.Revision, j.Previous), next+", to bring it back")
		case j.old.Current == nil:
			j.refuse("retired", fmt.Sprintf("revision %d is published, and the tool was retired since", j.Revision), next+", to bring it back")
		default:
			j.Already = true
		}
		return true, nil
	}
	if j.Revision < j.Previous {
		j.refuse("not-newer", fmt.Sprintf("the newest revision is %d", j.Previous), fmt.Sprintf("revision: %d", j.Previous+1))
		return true, nil
	}
	return false, nil
}

func sameFile(a, b *contract.File) (bool, error) {
	var text [2]string
	for i, f := range []*contract.File{a, b} {
		raw, err := json.Marshal(f)
		if err != nil {
			return false, err
		}
		canonical, err := jcs.Transform(raw)
		if err != nil {
			return false, err
		}
		text[i] = string(canonical)
	}
	return text[0] == text[1], nil
}

// entries judges what the file says of each earlier revision, by itself.
func (j *judgement) entries() {
	for _, a := range j.file.Accepts {
		old, ok := j.old.Revision(a.Revision)
		if !ok {
			j.refuse("no-such-revision", fmt.Sprintf("accepts names revision %d, which was never published", a.Revision), "leave the entry out")
			continue
		}
		if len(a.Adapt) > 0 && a.Revision != j.Previous {
			j.refuse("steps-do-not-connect", fmt.Sprintf("the steps of revision %d lead to revision %d, the one that follows it, and are no part of this file", a.Revision, j.following(a.Revision)),
				fmt.Sprintf("steps for revision %d alone; revision %d is led there by the steps that were published with the revisions between", j.Previous, a.Revision))
		}
		if a.Until != "" && a.Until < j.opt.Now.UTC().Format("2006-01-02") {
			j.refuse("window-is-over", fmt.Sprintf("the window of revision %d ended on %s", a.Revision, a.Until), "until: a day to come")
		}
		j.steps(a, old)
	}
}

// following is the revision that was published after n.
func (j *judgement) following(n int) int {
	for _, c := range j.old.Revisions() {
		if c.Revision > n {
			return c.Revision
		}
	}
	return j.Revision
}

// steps refuses steps that name an argument which is not there.
func (j *judgement) steps(a contract.Accept, old *contract.Contract) {
	if a.Revision != j.Previous {
		return
	}
	have := properties(old.Input)
	want := properties(j.next.Input)
	refuse := func(format string, args ...any) {
		j.refuse("steps-do-not-connect", fmt.Sprintf("revision %d: ", a.Revision)+fmt.Sprintf(format, args...),
			fmt.Sprintf("adapt: steps from the arguments of revision %d to those of revision %d", a.Revision, j.Revision))
	}
	for _, s := range a.Adapt {
		for from, to := range s.Rename {
			if !have[from] {
				refuse("rename: there is no argument %q to rename", from)
			}
			delete(have, from)
			have[to] = true
		}
		for name := range s.Default {
			have[name] = true
		}
		for name := range s.Map {
			if !have[name] {
				refuse("map: there is no argument %q to map", name)
			}
		}
	}
	for _, name := range sortedNames(have) {
		if !want[name] {
			refuse("the argument %q is in revision %d no more, and no step takes it away", name, j.Revision)
		}
	}
}

// rules judges what was found.
func (j *judgement) rules() {
	fence := fmt.Sprintf("accepts: [{revision: %d, change: fence}] and declare_revision: true (better: a new tool name, and executor tool retire %s --replacement NEW)", j.Previous, j.Tool)
	if j.Kind == contract.Fence {
		if j.Claim == contract.Additive || j.Claim == contract.Migration {
			j.refuse("claim-too-weak", fmt.Sprintf("the file claims %s, and the change is a fence: %s", j.Claim, j.why()), fence)
		}
		if !j.file.Declare && !j.bringsBack() {
			j.refuse("fence-without-declared-revision", "the change is a fence, and an old call could not be told from a new one: "+j.why(), fence)
		}
	}
	if j.Kind == contract.Migration && j.Claim == contract.Additive {
		j.refuse("claim-too-weak", "the file claims additive, and the change breaks old calls or may make them mean something else: "+j.why(),
			fmt.Sprintf("accepts: [{revision: %d, change: migration, until: YYYY-MM-DD, adapt: [...]}]", j.Previous))
	}
	for _, a := range j.file.Accepts {
		if _, ok := j.after.Window(a.Revision); !ok && a.Change != contract.Fence {
			j.refuse("steps-do-not-connect", fmt.Sprintf("accepts names revision %d, and no steps lead from there to here: a revision between does not take its calls, or its adapter was pruned", a.Revision), "leave the entry out")
		}
	}
	for _, o := range j.Overlaps {
		if !j.file.Declare {
			j.refuse("overlap-without-declared-revision", fmt.Sprintf("calls of revision %d fit this one and would do something else, such as %s", o.Revision, short(o.Example.Arguments)), "declare_revision: true")
		}
	}
}

// bringsBack reports whether the file says what an earlier revision said, after one
// that declared itself: calls of that one carry its token and are told apart by it.
func (j *judgement) bringsBack() bool {
	return j.old.Newest().Declares() && slices.ContainsFunc(j.old.Revisions(), j.next.SameAs)
}

// why says on what the kind of change rests.
func (j *judgement) why() string {
	words := slices.Clone(j.Authority)
	for _, c := range j.Findings.Changes {
		if kindOf(c) == j.Kind {
			words = append(words, c.Path+" ["+c.Rule+"]")
		}
	}
	for _, c := range j.Checks {
		if c.Outcome == Counterexample {
			words = append(words, fmt.Sprintf("a call of revision %d renders otherwise", c.Revision))
		}
	}
	if len(words) == 0 {
		return "the file says so"
	}
	return strings.Join(words, "; ")
}

// reachable warns of what the vault does not hold.
func (j *judgement) reachable() {
	g := j.opt.Policy
	if g == nil {
		return
	}
	if s := j.file.SSH; s != nil {
		if _, ok := g.Host(s.Host); !ok {
			j.Warnings = append(j.Warnings, fmt.Sprintf("no host is called %q: calls are refused until executor host add %s", s.Host, s.Host))
		}
		return
	}
	h := j.file.HTTP
	c, ok := g.Credential(h.Credential)
	switch {
	case h.Credential == "":
	case !ok:
		j.Warnings = append(j.Warnings, fmt.Sprintf("no credential is called %q: calls are refused until executor credential add %s", h.Credential, h.Credential))
	default:
		origin, _, _ := cutURL(h.URL)
		if !strings.Contains(origin, "{") && !slices.ContainsFunc(c.Targets, func(t string) bool { return sameOrigin(t, origin) }) {
			j.Warnings = append(j.Warnings, fmt.Sprintf("credential %q is not bound to %s: calls are refused", h.Credential, origin))
		}
	}
}

// sameOrigin is a first look, for a warning: patterns with wildcards pass.
func sameOrigin(pattern, origin string) bool {
	p, err := url.Parse(pattern)
	o, err2 := url.Parse(origin)
	return err != nil || err2 != nil || strings.Contains(pattern, "*") || strings.EqualFold(p.Hostname(), o.Hostname())
}
