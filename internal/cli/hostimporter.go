package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/internal/sshconfig"
	"executor/internal/sshfile"
	"executor/vault"
)

// A hostImporter gathers hosts and keys before anything is stored.
type hostImporter struct {
	app    *app
	home   *daemon.Home
	known  *policy.Generation
	config *sshconfig.Config
	sshDir string
	floor  action.Level

	hosts []policy.Host // jump hosts before those that they lead to
	keys  []*importKey
	files map[string]*importKey
	left  []string
	busy  []string // aliases whose way is being followed
}

func (im *hostImporter) leave(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(im.left, text) {
		im.left = append(im.left, text)
	}
}

// host brings in one host with its way, and returns its name. jump, where it is
// not "", leads to it instead of the host's own ProxyJump: it is a later link of a chain.
func (im *hostImporter) host(at sshconfig.Jump, jump string) (string, error) {
	e, err := im.config.Entry(at.Host)
	if err != nil {
		return "", err
	}
	h := policy.Host{Name: strings.ToLower(at.Host), Addr: e.Addr, User: e.User, Jump: jump, Approval: im.floor}
	if at.User != "" {
		h.User = at.User
	}
	if at.Port != "" {
		name, _, _ := net.SplitHostPort(e.Addr)
		h.Addr = net.JoinHostPort(name, at.Port)
	}
	if jump == "" {
		if h.Jump, err = im.way(at.Host, e.Jumps); err != nil {
			return "", err
		}
	}
	if h.HostKeys, err = im.pins(e, h.Addr); err != nil {
		return "", err
	}
	return im.add(h, e)
}

// way brings in the jump hosts of an alias and returns the last one's name.
func (im *hostImporter) way(alias string, jumps []sshconfig.Jump) (last string, err error) {
	if slices.Contains(im.busy, alias) {
		return "", fmt.Errorf("its ProxyJump leads in a circle")
	}
	im.busy = append(im.busy, alias)
	defer func() { im.busy = im.busy[:len(im.busy)-1] }()
	for _, j := range jumps {
		if last, err = im.host(j, last); err != nil {
			return "", fmt.Errorf("its jump host %s: %w", j.Host, err)
		}
	}
	return last, nil
}

// add plans a host, unless it is planned or stored already.
func (im *hostImporter) add(h policy.Host, e sshconfig.Entry) (string, error) {
	h.Credential = "pending"
	if err := h.Check(); err != nil {
		return "", err
	}
	for _, p := range im.hosts {
		if p.Addr == h.Addr && p.User == h.User && p.Jump == h.Jump && p.Name == h.Name {
			return p.Name, nil
		}
		if p.Name == h.Name {
			return "", errors.New("it is needed in two ways, with different users, ports or jump hosts; add it yourself with: executor host add")
		}
	}
	if old, ok := im.known.Host(h.Name); ok {
		if old.Addr == h.Addr && old.User == h.User && old.Jump == h.Jump && len(im.busy) > 0 {
			return old.Name, nil // a jump host that is there
		}
		return "", errors.New("a host of this name exists")
	}
	k, err := im.key(e)
	if err != nil {
		return "", err
	}
	k.target("ssh://" + h.Addr)
	h.Credential = k.name
	im.hosts = append(im.hosts, h)
	if len(e.Ignored) > 0 {
		im.leave("%s: options without a counterpart: %s", h.Name, strings.Join(e.Ignored, ", "))
	}
	return h.Name, nil
}

// pins are the host keys in all known_hosts files that are there.
func (im *hostImporter) pins(e sshconfig.Entry, addr string) ([]string, error) {
	name := addr
	if e.HostKeyAlias != "" {
		name = net.JoinHostPort(e.HostKeyAlias, "22")
	}
	var pins []string
	for _, file := range e.KnownHosts {
		data, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found, warnings, err := sshfile.ParseKnownHosts(data, file, name)
		if err != nil && !errors.Is(err, sshfile.ErrNoHostKey) {
			return nil, err
		}
		pins = append(pins, found...)
		for _, w := range warnings {
			im.leave("%s", w)
		}
	}
	slices.Sort(pins)
	if pins = slices.Compact(pins); len(pins) == 0 {
		return nil, fmt.Errorf("no known_hosts file has a key of %s; add it with: executor host add --scan", name)
	}
	return pins, nil
}

// store writes everything in one generation of the vault.
func (im *hostImporter) store(ctx context.Context) error {
	now := time.Now().UTC().Truncate(time.Second)
	return im.home.Vault.Update(ctx, "host import", func(e *vault.Edit) error {
		for _, k := range im.keys {
			if err := k.put(e, now); err != nil {
				return fmt.Errorf("credential %s: %w", k.name, err)
			}
		}
		for _, h := range im.hosts {
			if _, err := e.Item(policy.KindHost, h.Name); err == nil {
				return fmt.Errorf("host %q exists", h.Name)
			}
			body, err := json.Marshal(h)
			if err != nil {
				return err
			}
			if _, err := e.Put(vault.Item{Kind: policy.KindHost, Name: h.Name, Body: body}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (im *hostImporter) wipe() {
	for _, k := range im.files {
		k.pem.Wipe()
	}
}
