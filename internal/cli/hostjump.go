package cli

import (
	"fmt"
	"strings"

	"executor/internal/daemon"
	"executor/internal/policy"
	"executor/vault"
)

func byWayOf(jump string) string {
	if jump == "" {
		return ""
	}
	return " by way of " + jump
}

// checkJump refuses a jump host that is not there, and a way that leads in a circle.
func checkJump(v *vault.Vault, h policy.Host) error {
	g, err := daemon.LoadPolicy(v)
	if err != nil {
		return err
	}
	way := []string{h.Name}
	for next := h.Jump; next != ""; {
		if next == h.Name {
			return fmt.Errorf("the way to host %q would lead in a circle: %s", h.Name, strings.Join(append(way, next), " by way of "))
		}
		at, ok := g.Host(next)
		if !ok {
			return fmt.Errorf("no host is called %q, which --jump names; add it first with: executor host add %s", next, next)
		}
		way = append(way, next)
		if len(way) > len(g.Hosts())+1 {
			return fmt.Errorf("the way to host %q would lead in a circle behind %q", h.Name, h.Jump)
		}
		next = at.Jump
	}
	return nil
}

// checkNoJump refuses to take away a host that others are reached by.
func checkNoJump(v *vault.Vault, name string) error {
	g, err := daemon.LoadPolicy(v)
	if err != nil {
		return err
	}
	for _, h := range g.Hosts() {
		if h.Jump == name {
			return fmt.Errorf("host %q is reached by way of %q; remove that first with: executor host remove %s", h.Name, name, h.Name)
		}
	}
	return nil
}
