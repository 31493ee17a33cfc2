package policy

import "executor/internal/action"

// A HostSummary is what an agent may know of a host. Level is due for a command
// and for a write.
type HostSummary struct {
	Name  string       `json:"name"`
	Kind  string       `json:"kind"`
	Level action.Level `json:"approval"`
	// Read is the level due for reading a file or a directory.
	Read action.Level `json:"approval_read"`
}

// A BindingSummary is what an agent may know of a binding: where a credential
// applies, and the level due there for reads and for writes, rules apart.
type BindingSummary struct {
	Credential string       `json:"credential"`
	Kind       string       `json:"kind"`
	Prefix     string       `json:"prefix"`
	Read       action.Level `json:"approval_read"`
	Write      action.Level `json:"approval_write"`
}

// Summary lists the hosts and bindings of g, by name. It names no address, no
// user and no secret.
func (g *Generation) Summary() (hosts []HostSummary, bindings []BindingSummary) {
	hosts, bindings = []HostSummary{}, []BindingSummary{}
	for _, h := range g.Hosts() {
		level := action.Stricter(h.Approval, action.Call)
		read := action.Stricter(h.Approval, action.Session)
		if _, b, err := g.BindHost(h.Name); err == nil {
			level, read = action.Stricter(level, b.Floor), action.Stricter(read, b.Floor)
		}
		hosts = append(hosts, HostSummary{h.Name, "ssh", level, read})
	}
	for _, c := range g.Credentials() {
		if c.SSH() {
			continue
		}
		for _, t := range c.Targets {
			bindings = append(bindings, BindingSummary{c.Name, c.Type, t,
				action.Stricter(c.Approval, action.Session), action.Stricter(c.Approval, action.Call)})
		}
	}
	return hosts, bindings
}
