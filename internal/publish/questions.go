package publish

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"executor/internal/contract"
	"executor/internal/drift"
)

// answer answers the five questions of a release.
func (j *judgement) answer() {
	add := func(name, question, answer, why string) {
		j.Answers = append(j.Answers, Answer{name, question, answer, why})
	}
	yes, why := j.canSend()
	add("old-arguments", "can a session that exists still send the old arguments?", yes, why)
	yes, why = j.keepMeaning()
	add("old-meaning", "if so, do they keep exactly the old meaning?", yes, why)
	yes, why = j.refusedFirst()
	add("refusal-before-effect", "if not, does the refusal come before any effect?", yes, why)
	add("list-before-notice", "does list_changed come only after the new list answers?", "yes", "serve swaps the list of a connection before it sends list_changed there")
	yes, why = j.repair()
	add("repair", "can a client explain the repair without inventing authority?", yes, why)
}

// untouched says why there is nothing that an old call could meet, or "".
func (j *judgement) untouched() string {
	switch {
	case j.Already:
		return "this revision is the current one; nothing changes"
	case j.old == nil:
		return "the tool is new; there are no old calls"
	}
	return ""
}

func (j *judgement) canSend() (answer, why string) {
	if why := j.untouched(); why != "" {
		return "no", why
	}
	return "yes", fmt.Sprintf("until it lists again, a session that was served %s sends those arguments", revisions([]int{j.Previous}))
}

func (j *judgement) keepMeaning() (answer, why string) {
	if why := j.untouched(); why != "" {
		return "yes", why
	}
	if len(j.Refusals) > 0 {
		for _, c := range j.Checks {
			if c.Outcome == Counterexample {
				return "no", fmt.Sprintf("a call of revision %d would become another act", c.Revision)
			}
		}
		return "no", "the file is refused: " + j.Refusals[0].What
	}
	if len(j.Checks) == 0 {
		return "no", "no call of an earlier revision is accepted"
	}
	answer = "yes"
	var words []string
	for _, c := range j.Checks {
		words = append(words, fmt.Sprintf("revision %d: %s", c.Revision, c.words()))
		if c.Outcome == Untested {
			answer = "a person decides"
		}
	}
	if len(j.Questions) > 0 {
		answer = "a person decides"
		words = append(words, "the wording changed")
	}
	return answer, strings.Join(words, "; ") + "; the same bytes to the same named credential and host, which says nothing of what the downstream makes of them"
}

func (c Check) words() string {
	switch c.Outcome {
	case Proved:
		return "proved: the new template is the old one"
	case Tested:
		return fmt.Sprintf("tested on %d calls", c.Cases)
	case Counterexample:
		return "a counterexample was found"
	}
	return "not tested: no arguments could be generated"
}

func (j *judgement) refusedFirst() (answer, why string) {
	if why := j.untouched(); why != "" {
		return "yes", why
	}
	return "yes", "a call is resolved, adapted and rendered under both contracts before its intent is written; whatever is not accepted ends there as STALE_TOOL_SCHEMA with side_effect_started: false"
}

// repair says what a refused client has to do, and whether it could only guess.
func (j *judgement) repair() (answer, why string) {
	if why := j.untouched(); why != "" {
		return "yes", why
	}
	if len(j.Refused) == 0 && j.Kind != contract.Fence {
		return "yes", "no call has to be repaired"
	}
	for _, c := range j.Findings.Changes {
		if strings.HasPrefix(c.Rule, "auth-") {
			return "no", fmt.Sprintf("%s carries authority, which a client never fills in: a person decides [%s]", c.Path, c.Rule)
		}
	}
	if len(j.Authority) > 0 {
		return "no", "the tool reaches or needs something else: a person decides. " + strings.Join(j.Authority, "; ")
	}
	var open []string
	for _, name := range j.added() {
		if drift.IsAuthority(name) || !single(j.next.Input, name) {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		return "a person decides", "after a new list these arguments have no one value to take: " + strings.Join(open, ", ")
	}
	return "yes", "it lists again and builds the call on revision " + fmt.Sprint(j.Revision)
}

// added lists the required arguments that the newest revision did not require.
func (j *judgement) added() (out []string) {
	before := required(j.old.Newest().Input)
	for _, name := range required(j.next.Input) {
		if !slices.Contains(before, name) {
			out = append(out, name)
		}
	}
	return out
}

func required(input json.RawMessage) []string {
	var schema struct {
		Required []string `json:"required"`
	}
	if json.Unmarshal(input, &schema) != nil {
		return nil
	}
	return schema.Required
}

// single reports whether a schema leaves one value to an argument.
func single(input json.RawMessage, name string) bool {
	var schema struct {
		Properties map[string]struct {
			Const   json.RawMessage   `json:"const"`
			Enum    []json.RawMessage `json:"enum"`
			Default json.RawMessage   `json:"default"`
		} `json:"properties"`
	}
	if json.Unmarshal(input, &schema) != nil {
		return false
	}
	p := schema.Properties[name]
	return p.Const != nil || len(p.Enum) == 1 || p.Default != nil
}
