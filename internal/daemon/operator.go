package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"executor/executor"
	"executor/internal/contract"
	"executor/internal/ctl"
	"executor/internal/secret"
	"executor/journal"
	"executor/vault"
)

// operators is the server of operator.sock.
func (d *daemon) operators() *ctl.Server {
	key := secret.New(d.home.Keys.ConsoleKey())
	return ctl.NewServer(ctl.ServerConfig{
		Daemon: d, Desk: d.desk, UID: os.Getuid(),
		Key: func() *secret.Secret { return key },
	})
}

// Status says how the daemon is, to whoever may open operator.sock.
func (d *daemon) Status(context.Context) ctl.Status {
	q := d.desk.Queue()
	return ctl.Status{
		Version: d.Build.Version, Locked: d.keys.locked(), Sessions: d.agents.connections(),
		Requests: len(q.Open), Approvers: q.Approvers, JournalKey: d.home.Journal.Key(),
	}
}

// Lock wipes the secrets, the grants and the requests that wait. The keys of the
// journal and of the consoles stay, so that refusals are still signed and unlock
// can be proved.
func (d *daemon) Lock(ctx context.Context) error {
	if d.keys.locked() {
		return nil
	}
	err := errors.Join(d.keys.lock(ctx), d.desk.Wipe(ctx, executor.ErrLocked), d.change(ctx, "lock"))
	d.say("locked: calls are refused until executor unlock")
	return err
}

// Reload reads the vault again and drops the requests that it made untrue.
func (d *daemon) Reload(ctx context.Context) error {
	if err := d.keys.reload(ctx); err != nil {
		return err
	}
	return errors.Join(d.publish(), d.desk.Recheck(ctx))
}

// publish takes over the tools of the vault. New calls are judged by them at once;
// the lists of the agents follow. One publish at a time: an earlier reading never
// takes the place of a later one.
func (d *daemon) publish() error {
	d.publishing.Lock()
	defer d.publishing.Unlock()
	v := d.keys.current()
	if v == nil {
		return nil
	}
	return d.shelf.take(v, func(next *contract.Snapshot) error {
		d.executor.Publish(next)
		return d.agents.server.Refresh()
	})
}

// Unlock opens the vault with keys that another of the operator's commands opened
// and handed over.
func (d *daemon) Unlock(ctx context.Context, identity *secret.Secret) error {
	if !d.keys.locked() {
		return nil
	}
	keys, err := handedOver(identity)
	if err != nil {
		return err
	}
	v, err := vault.Open(ctx, vaultConfig(d.home.Dir, 0), keys, d.home.Journal)
	if err == nil {
		err = d.keys.open(v)
	}
	if err != nil {
		keys.Wipe()
		return err
	}
	d.say("unlocked")
	return errors.Join(d.publish(), d.change(ctx, "unlock"))
}

func (d *daemon) change(ctx context.Context, action string) error {
	return d.home.Journal.RecordChange(ctx, journal.Change{Time: time.Now(), Action: action, By: "operator"})
}

// handoverKey is the length of the key that seals keys on their way to serve.
const handoverKey = 32

// HandOver packs keys for Unlock. The result is as secret as the keys: it goes
// through a channel that seals it.
func HandOver(keys *vault.Keys) (*secret.Secret, error) {
	key := make([]byte, handoverKey)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	box, err := keys.Seal(key)
	if err != nil {
		clear(key)
		return nil, err
	}
	return secret.New(append(key, box...)), nil
}

func handedOver(identity *secret.Secret) (keys *vault.Keys, err error) {
	useErr := identity.Use(func(b []byte) error {
		if len(b) < handoverKey {
			return fmt.Errorf("what was handed over has %d bytes", len(b))
		}
		keys, err = vault.UnsealKeys(b[:handoverKey], b[handoverKey:])
		return nil
	})
	return keys, errors.Join(useErr, err)
}

// autoLock locks the vault once it was open for d.AutoLock of wall clock: a
// machine that slept through it locks when it wakes.
func (d *daemon) autoLock(ctx context.Context) {
	if d.AutoLock <= 0 {
		return
	}
	due := time.Now().Round(0).Add(d.AutoLock) // Round drops the monotonic clock
	for pause(ctx, min(d.AutoLock, 10*time.Second)) {
		now := time.Now().Round(0)
		if d.keys.locked() {
			due = now.Add(d.AutoLock)
			continue
		}
		if now.Before(due) {
			continue
		}
		if err := d.Lock(ctx); err != nil {
			d.say("auto-lock: " + err.Error())
		}
	}
}
