package executor

import (
	"context"
	"fmt"

	"executor/internal/action"
)

// Targets is the runner of list_targets: it reads the policy and reaches nothing.
type Targets struct{ Credentials Credentials }

// Run answers with the hosts and bindings of the current policy.
func (t Targets) Run(_ context.Context, a action.Action, _ *Lease, _ func()) (Response, error) {
	if _, ok := a.(*action.Targets); !ok {
		return nil, fmt.Errorf("list_targets cannot run an action of kind %q", a.Kind())
	}
	g, _, err := t.Credentials.Current()
	if err != nil {
		return nil, &RunError{Code: VaultLocked, Message: "the vault was locked meanwhile", Detail: err}
	}
	hosts, bindings := g.Summary()
	return &TargetsResponse{hosts, bindings}, nil
}
