package vault_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"executor/vault"
)

// holder keeps values where fmt reaches no method of theirs.
type holder struct {
	keys  *vault.Keys
	vault *vault.Vault
}

func TestNoExportedTypePrintsASecret(t *testing.T) {
	w := newWorld(t)
	keys := w.identity()
	v, err := vault.Open(t.Context(), w.cfg, keys, w.ledger)
	check(t, err)
	defer v.Close()
	w.put(v, "ci", "x")
	id, root := w.openedIdentity()
	named := v.Secrets()
	lease, err := v.Lease("credential", "ci", 1)
	check(t, err)

	var out strings.Builder
	show := func(values ...any) {
		for _, value := range values {
			fmt.Fprintf(&out, "%v %+v %#v %s %q %x %d\n", value, value, value, value, value, value, value)
			slog.New(slog.NewTextHandler(&out, nil)).Info("m", "value", value)
			if err := json.NewEncoder(&out).Encode(value); err != nil {
				fmt.Fprintln(&out, err)
			}
		}
	}
	show(keys, *keys, []any{keys}, named, named[0], lease, v.Items(), w.cfg, credential("a", "b"))
	show(holder{keys, v}, &holder{keys, v})
	show(v) // the Vault holds a mutex and is printed by its pointer
	check(t, v.Update(t.Context(), "look", func(e *vault.Edit) error { show(e, *e); return nil }))

	printed := out.String()
	for _, secretText := range []string{canary, "AGE-SECRET-KEY", id.String(), fmt.Sprintf("%x", root), fmt.Sprintf("%x", canary),
		fmt.Sprintf("%x", "AGE-SECRET"), strings.Trim(fmt.Sprint([]byte(canary)[:6]), "[]"), strings.Trim(fmt.Sprint(root[:6]), "[]")} {
		if strings.Contains(printed, secretText) {
			at := strings.Index(printed, secretText)
			t.Errorf("%q was printed: %s", secretText, printed[max(0, at-300):at+100])
		}
	}
	if leak([]byte(printed)) != "" {
		t.Error("the canary was printed encoded")
	}
	if !strings.Contains(printed, "REDACTED") {
		t.Error("nothing was printed at all")
	}
}
