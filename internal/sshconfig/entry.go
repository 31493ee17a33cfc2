package sshconfig

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// An Entry is one host as ssh would reach it.
type Entry struct {
	Alias string
	// Addr is host:port, with brackets around IPv6.
	Addr string
	User string
	// Keys are the private key files and Certificates the certificate files that
	// are named, in order; none named is none.
	Keys         []string
	Certificates []string
	// Jumps lead to the host, the first one first.
	Jumps []Jump
	// KnownHosts are the files that pin its keys. HostKeyAlias is the name that it
	// has there, or "".
	KnownHosts   []string
	HostKeyAlias string
	// Ignored are the keywords that apply and have no counterpart, in lower case, sorted.
	Ignored []string
}

// A Jump is one host of a ProxyJump. User and Port are "" where it does not give them.
type Jump struct{ User, Host, Port string }

// Aliases lists the names that Host lines give without a wildcard, in order.
func (c *Config) Aliases() []string {
	var out []string
	for _, h := range c.parsed.Hosts {
		for _, p := range h.Patterns {
			if s := p.String(); !strings.ContainsAny(s, "*?!") && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// Match reports whether an alias matches a pattern with * and ?, as on a Host line.
func Match(pattern, alias string) (bool, error) {
	p, err := ssh_config.NewPattern(pattern)
	if err != nil {
		return false, err
	}
	return (&ssh_config.Host{Patterns: []*ssh_config.Pattern{p}}).Matches(alias), nil
}

// Entry says how a host is reached, or why that cannot be said.
func (c *Config) Entry(alias string) (Entry, error) {
	v := c.values(alias)
	if cmd := v.first("proxycommand"); cmd != "" && !strings.EqualFold(cmd, "none") {
		return Entry{}, errors.New("it is reached by a ProxyCommand, which is not run here; a jump host is named with ProxyJump")
	}
	e := Entry{Alias: alias, User: or(v.first("user"), c.user), HostKeyAlias: v.first("hostkeyalias")}
	x := &expander{tokens: map[byte]string{'%': "%", 'h': alias, 'n': alias}}
	host := x.expand(or(v.first("hostname"), alias))
	port := or(v.first("port"), "22")
	e.Addr = net.JoinHostPort(strings.Trim(host, "[]"), port)
	x.home = c.home
	x.tokens = map[byte]string{'%': "%", 'd': c.home, 'h': host, 'n': alias, 'p': port, 'r': e.User, 'u': c.user}
	e.Keys = x.files(v["identityfile"])
	e.Certificates = x.files(v["certificatefile"])
	e.KnownHosts = x.files(knownHosts(v))
	var err error
	if e.Jumps, err = jumps(v.first("proxyjump")); err != nil {
		return Entry{}, err
	}
	for k := range v {
		if !slices.Contains(taken, k) {
			e.Ignored = append(e.Ignored, k)
		}
	}
	slices.Sort(e.Ignored)
	return e, x.err
}

// taken are the keywords that are used, or mean nothing here.
var taken = []string{
	"hostname", "port", "user", "identityfile", "certificatefile", "proxyjump", "proxycommand", "userknownhostsfile",
	"globalknownhostsfile", "hostkeyalias", "identitiesonly", "addkeystoagent", "usekeychain", "loglevel",
	"serveraliveinterval", "serveralivecountmax", "controlmaster", "controlpath", "controlpersist", "compression",
	"hashknownhosts", "updatehostkeys", "visualhostkey", "connecttimeout", "tcpkeepalive", "batchmode",
}

func knownHosts(v values) []string {
	user, global := v.first("userknownhostsfile"), v.first("globalknownhostsfile")
	return strings.Fields(or(user, "~/.ssh/known_hosts ~/.ssh/known_hosts2") + " " +
		or(global, "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"))
}

// jumps reads a ProxyJump: "[user@]host[:port],…" or ssh:// URIs.
func jumps(list string) ([]Jump, error) {
	if list == "" || strings.EqualFold(list, "none") {
		return nil, nil
	}
	var out []Jump
	for _, one := range strings.Split(list, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "ssh://")
		var j Jump
		if i := strings.LastIndex(one, "@"); i >= 0 {
			j.User, one = one[:i], one[i+1:]
		}
		j.Host = strings.Trim(one, "[]")
		if host, port, err := net.SplitHostPort(one); err == nil {
			j.Host, j.Port = host, port
		}
		if j.Host == "" || strings.ContainsAny(one, "%$/ ") {
			return nil, fmt.Errorf("ProxyJump %q cannot be read", list)
		}
		out = append(out, j)
	}
	return out, nil
}

// values are the keywords that apply to one alias, in lower case, with what they
// were given, first to last.
type values map[string][]string

func (v values) first(key string) string {
	if len(v[key]) == 0 {
		return ""
	}
	return v[key][0]
}

func (c *Config) values(alias string) values {
	v := values{}
	for _, h := range c.parsed.Hosts {
		if !h.Matches(alias) {
			continue
		}
		for _, n := range h.Nodes {
			if kv, ok := n.(*ssh_config.KV); ok {
				k := strings.ToLower(kv.Key)
				v[k] = append(v[k], strings.TrimSpace(kv.Value))
			}
		}
	}
	return v
}

func or(v, standard string) string {
	if v == "" {
		return standard
	}
	return v
}

// An expander replaces tokens (ssh_config(5), TOKENS) and keeps the first error.
type expander struct {
	home   string
	tokens map[byte]string
	err    error
}

func (x *expander) expand(s string) string {
	if strings.Contains(s, "${") && x.err == nil {
		x.err = fmt.Errorf("%q holds an environment variable, which is not read here", s)
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out.WriteByte(s[i])
			continue
		}
		i++
		value, ok := "", false
		if i < len(s) {
			value, ok = x.tokens[s[i]]
		}
		if !ok && x.err == nil {
			x.err = fmt.Errorf("%q holds a token that is not known here", s)
		}
		out.WriteString(value)
	}
	return out.String()
}

func (x *expander) files(names []string) []string {
	var out []string
	for _, n := range names {
		if strings.EqualFold(n, "none") {
			continue
		}
		n = x.expand(strings.Trim(n, `"`))
		if rest, ok := strings.CutPrefix(n, "~/"); ok {
			n = filepath.Join(x.home, rest)
		}
		out = append(out, n)
	}
	return out
}
