package executor

import (
	"encoding/json"
	"errors"
	"time"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
)

// A Preview is how a call would be judged: what it would do, and how much of the
// operator that needs.
type Preview struct {
	Action action.Action
	// Level is due: the strictest of Floor and Ruling.Level.
	Level action.Level
	// Floor is that of the credentials, the host and the tool.
	Floor action.Level
	// Default is the level by effect or the tool's own, which holds where no rule applies.
	Default action.Level
	Ruling  policy.Ruling
	// Covers says what a yes would cover beyond the call, "" for nothing.
	Covers string
}

// Foresee judges a call as if it came now from a caller who declared nothing, and
// runs nothing. The errors are those that would refuse the call. used is
// policy.Case's.
func Foresee(g *policy.Generation, s *contract.Snapshot, tool string, args json.RawMessage, at time.Time, used func(*policy.Rule) int) (Preview, error) {
	r, err := s.Resolve(tool, args, contract.Origin{Stateless: true, Now: at})
	if errors.Is(err, contract.ErrUnknownTool) {
		return Preview{}, err
	}
	if err != nil {
		return Preview{}, asRefusal(err)
	}
	b, err := judged(g, r, question{tool, at, used})
	if err != nil {
		return Preview{}, asRefusal(err)
	}
	return Preview{b.action, b.level, b.floor, b.usual, b.ruling, b.scope}, nil
}
