package demo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/secret"
	"executor/vault"
)

// quickScrypt is a work factor for a home that lives a minute.
const quickScrypt = 12

// setUp makes the home and registers what the agent may use.
func (s *story) setUp(ctx context.Context) (*daemon.Home, error) {
	s.chapter("The operator sets up: executor init, credential add, host add")
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return nil, err
	}
	pass := secret.New([]byte(hex.EncodeToString(raw)))
	defer pass.Wipe()
	if err := daemon.CreateHome(ctx, s.dir, pass, quickScrypt); err != nil {
		return nil, err
	}
	home, err := daemon.OpenHome(ctx, s.dir, pass)
	if err != nil {
		return nil, err
	}
	items, err := s.items()
	if err == nil {
		err = home.Vault.Update(ctx, "demo: credentials shop and deploy, host web-1", func(e *vault.Edit) error {
			for _, it := range items {
				if _, err := e.Put(it); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		home.Close()
		return nil, err
	}
	s.say("vault and journal in %s, removed at the end", s.dir)
	s.say("credential shop    a bearer token, for %s", s.api.prefix())
	s.say("credential deploy  an SSH key, for ssh://%s", s.shell.addr())
	s.say("host web-1         deploy@%s, with its host key pinned", s.shell.addr())
	return home, nil
}

func (s *story) items() ([]vault.Item, error) {
	now := time.Now().UTC().Truncate(time.Second)
	shop, err := json.Marshal(policy.Credential{Type: policy.Bearer, Targets: []string{s.api.prefix()}, Approval: action.None, Created: now})
	if err != nil {
		return nil, err
	}
	deploy, err := json.Marshal(policy.Credential{Type: policy.SSHKey, Targets: []string{"ssh://" + s.shell.addr()}, Approval: action.None, Created: now})
	if err != nil {
		return nil, err
	}
	host, err := json.Marshal(policy.Host{
		Addr: s.shell.addr(), User: "deploy", Credential: "deploy", HostKeys: []string{s.shell.hostKey}, Approval: action.None,
	})
	if err != nil {
		return nil, err
	}
	return []vault.Item{
		{Kind: policy.KindCredential, Name: "shop", Body: shop, Secret: s.token.Clone()},
		{Kind: policy.KindCredential, Name: "deploy", Body: deploy, Secret: s.shell.userKey},
		{Kind: policy.KindHost, Name: "web-1", Body: host},
	}, nil
}
