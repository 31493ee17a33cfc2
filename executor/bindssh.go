package executor

import (
	"errors"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
)

func bindSSH(g *policy.Generation, d *contract.SSHDraft) (bound, error) {
	hops, b, err := route(g, d.Host)
	if err != nil {
		return bound{}, err
	}
	a := &action.SSH{
		Host: d.Host, Command: d.Command, Argv: d.Argv, Env: d.Env, Stdin: action.Blob{Bytes: d.Stdin},
		Hops:   hops,
		Limits: action.Limits{Timeout: d.Timeout, MaxBytes: d.MaxBytes},
	}
	return bound{action: a, items: b.Items, floor: b.Floor}, nil
}

func bindFile(g *policy.Generation, d *contract.SSHFileDraft) (bound, error) {
	hops, b, err := route(g, d.Host)
	if err != nil {
		return bound{}, err
	}
	a := &action.File{
		Operation: d.Operation, Host: d.Host, Hops: hops, Path: d.Path,
		Mode: d.Mode, Overwrite: d.Overwrite, Expected: d.Expected, Content: action.Blob{Bytes: d.Content},
		Entries: d.Entries, Limits: action.Limits{Timeout: d.Timeout, MaxBytes: d.MaxBytes},
	}
	return bound{action: a, items: b.Items, floor: b.Floor}, nil
}

// route binds a host, with every host on the way to it.
func route(g *policy.Generation, host string) ([]action.Hop, policy.Binding, error) {
	steps, b, err := g.BindHost(host)
	if errors.Is(err, policy.ErrUnknownHost) {
		return nil, policy.Binding{}, &Refusal{
			Code: UnknownHost, Message: "there is no host of this name; list_targets shows the hosts. Only the operator can add one",
			Problems: action.Problems{{Path: "/host", Problem: "unknown host"}}, Cause: err,
		}
	}
	if err != nil {
		return nil, policy.Binding{}, notBound(err, "the operator must mend this")
	}
	hops := make([]action.Hop, len(steps))
	for i, s := range steps {
		hops[i] = action.Hop{Address: s.Host.Addr, User: s.Host.User, HostKeys: s.Host.HostKeys, Credential: s.Credential.Ref()}
	}
	return hops, b, nil
}
