package contract_test

import (
	"encoding/json"
	"errors"
	"testing"

	"executor/internal/contract"
)

func TestResolve(t *testing.T) {
	s := builtin(t)
	c, _ := s.Tool("ssh_exec")
	for _, tt := range []struct {
		name     string
		claim    *contract.Claim
		served   int
		evidence string
		declared int
		stale    bool
	}{
		{"nothing", nil, 0, contract.FromNothing, 0, false},
		{"served the current one", nil, 1, contract.FromSession, 1, false},
		{"served another one", nil, 2, "", 0, true},
		{"declares the current one", &contract.Claim{Revision: 1, Digest: c.Digest()}, 0, contract.FromMeta, 1, false},
		{"declares without a digest", &contract.Claim{Revision: 1}, 0, contract.FromMeta, 1, false},
		{"the declaration outweighs the session", &contract.Claim{Revision: 1}, 2, contract.FromMeta, 1, false},
		{"declares a newer one", &contract.Claim{Revision: 2}, 1, "", 0, true},
		{"digest of another contract", &contract.Claim{Revision: 1, Digest: "sha256:00"}, 1, "", 0, true},
	} {
		r, err := s.Resolve("ssh_exec", tt.claim, tt.served)
		var stale *contract.StaleError
		if errors.As(err, &stale) != tt.stale {
			t.Errorf("%s: error %v", tt.name, err)
			continue
		}
		if tt.stale {
			if stale.Current.Revision != 1 || stale.Tool != "ssh_exec" {
				t.Errorf("%s: %+v", tt.name, stale)
			}
			continue
		}
		if r.Contract != c || r.Evidence != tt.evidence || r.Declared != tt.declared {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
	if _, err := s.Resolve("no_such_tool", nil, 0); !errors.Is(err, contract.ErrUnknownTool) {
		t.Errorf("unknown tool: %v", err)
	}
	var zero contract.Snapshot
	if _, err := zero.Resolve("ssh_exec", nil, 0); !errors.Is(err, contract.ErrUnknownTool) {
		t.Errorf("the zero snapshot knows a tool: %v", err)
	}
}

func TestParseClaim(t *testing.T) {
	for raw, ok := range map[string]bool{
		``: true, `{"revision":1}`: true, `{"revision":1,"digest":"sha256:00","accepts":[1]}`: true,
		`{"revision":0}`: false, `{"revision":-1}`: false, `{"revision":1.5}`: false, `{"Revision":1}`: false,
		`{"revision":1,"revision":2}`: false, `{}`: false, `[]`: false, `"1"`: false,
	} {
		if _, err := contract.ParseClaim(json.RawMessage(raw)); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
