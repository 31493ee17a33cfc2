package daemon

import (
	"context"

	"executor/executor"
	"executor/executor/httprun"
)

// TryCredential sends one GET or HEAD with a credential of the home to a URL that
// the operator names, through the same binding, runner and masks as an agent's
// call. What was tried and what came of it is in the journal.
func TryCredential(ctx context.Context, h *Home, name, method, url string) (executor.Probed, error) {
	keys := &keyring{}
	if err := keys.open(h.Vault); err != nil {
		return executor.Probed{}, err
	}
	runner := httprun.New(httprun.Config{})
	defer runner.Close()
	return executor.Probe{Credentials: keys, Runner: runner, Record: h.Journal.RecordChange}.Try(ctx, name, method, url)
}
