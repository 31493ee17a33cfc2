package daemon

import (
	"context"
	"fmt"
	"sync"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/mask"
	"executor/internal/policy"
	"executor/vault"
)

// A keyring is the vault as the pipeline sees it: one reading of its policy and
// masks, replaced whole. It is safe for concurrent use.
type keyring struct {
	// change is held while the vault is read again, replaced or locked: what was read
	// before a lock must not come back after it.
	change sync.Mutex

	mu     sync.RWMutex
	vault  *vault.Vault
	policy *policy.Generation // nil while locked
	mask   *mask.Set
	// replaced are the masks of earlier readings, which calls in flight may use until
	// a lock wipes them. Edits of a vault are few.
	replaced []*mask.Set
	// derived are the tokens and signatures that the masks of every reading know.
	derived mask.Derived
	// forget, if set, drops what runners keep of the secrets, when they are wiped.
	forget func()
}

// open takes v as the vault to read from.
func (k *keyring) open(v *vault.Vault) error {
	k.change.Lock()
	defer k.change.Unlock()
	return k.take(v)
}

// take reads v; the caller holds change.
func (k *keyring) take(v *vault.Vault) error {
	g, set, err := read(v)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.mask != nil {
		k.replaced = append(k.replaced, k.mask)
	}
	k.vault, k.policy, k.mask = v, g, set.WithDerived(&k.derived)
	return nil
}

// reload reads the vault again after somebody edited it.
func (k *keyring) reload(ctx context.Context) error {
	k.change.Lock()
	defer k.change.Unlock()
	v := k.current()
	if v == nil {
		return nil
	}
	if err := v.Reload(ctx); err != nil {
		return err
	}
	return k.take(v)
}

// current is the vault that is open, nil while locked.
func (k *keyring) current() *vault.Vault {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.policy == nil {
		return nil
	}
	return k.vault
}

// lock wipes the secrets. What a running action brings back can no longer be
// masked, so it is withheld.
func (k *keyring) lock(ctx context.Context) error {
	k.change.Lock()
	defer k.change.Unlock()
	v := k.current()
	if v == nil {
		return nil
	}
	k.mu.Lock()
	sets := append(k.replaced, k.mask)
	k.policy, k.mask, k.replaced = nil, nil, nil
	k.mu.Unlock()
	for _, set := range sets {
		set.Wipe()
	}
	k.derived.Wipe()
	if k.forget != nil {
		k.forget()
	}
	return v.Lock(ctx) // it writes: those who ask meanwhile are told that it is locked
}

func (k *keyring) locked() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.policy == nil
}

// LoadPolicy reads the policy that a vault holds.
func LoadPolicy(v *vault.Vault) (*policy.Generation, error) {
	var items []policy.Item
	for _, it := range v.Items() {
		items = append(items, policy.Item{Kind: it.Kind, Name: it.Name, Version: it.Version, Body: it.Body})
	}
	g, err := policy.Load(v.Generation(), items)
	if err != nil {
		return nil, fmt.Errorf("vault generation %d: %w", v.Generation(), err)
	}
	return g, nil
}

func read(v *vault.Vault) (*policy.Generation, *mask.Set, error) {
	g, err := LoadPolicy(v)
	if err != nil {
		return nil, nil, err
	}
	var named []mask.Named
	for _, s := range v.Secrets() {
		named = append(named, mask.Named{Name: s.Name, Secret: s.Secret})
	}
	set := mask.NewSet(named)
	for _, n := range named {
		n.Secret.Wipe()
	}
	if v.Locked() { // then it showed nothing, which is not the same as being empty
		set.Wipe()
		return nil, nil, vault.ErrLocked
	}
	return g, set, nil
}

// Current returns the reading that calls are judged by.
func (k *keyring) Current() (*policy.Generation, *mask.Set, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.policy == nil {
		return nil, nil, executor.ErrLocked
	}
	return k.policy, k.mask, nil
}

// Lease hands out the credentials of an action, in the versions that it names.
func (k *keyring) Lease(a action.Action) (*executor.Lease, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.policy == nil {
		return nil, executor.ErrLocked
	}
	routed, ok := a.(interface{ Route() []action.Hop })
	if !ok {
		return k.lease(a.Cred())
	}
	var leases []*executor.Lease
	for _, h := range routed.Route() {
		l, err := k.lease(h.Credential)
		if err != nil {
			for _, earlier := range leases {
				earlier.Wipe()
			}
			return nil, err
		}
		leases = append(leases, l)
	}
	if len(leases) == 0 {
		return nil, nil
	}
	last := leases[len(leases)-1]
	if last != nil {
		last.Hops = leases[:len(leases)-1]
	}
	return last, nil
}

func (k *keyring) lease(c *action.Credential) (*executor.Lease, error) {
	if c == nil {
		return nil, nil
	}
	meta, ok := k.policy.Credential(c.Name)
	if !ok || meta.Version != c.Version {
		return nil, fmt.Errorf("credential %s version %d: %w", c.Name, c.Version, vault.ErrNoSuchItem)
	}
	s, err := k.vault.Lease(policy.KindCredential, c.Name, c.Version)
	if err != nil {
		return nil, err
	}
	return &executor.Lease{Meta: *meta, Secret: s}, nil
}
