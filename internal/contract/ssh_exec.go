package contract

import (
	"encoding/json"
	"regexp"
	"strings"

	"executor/internal/action"
)

type sshExecArgs struct {
	Host     string            `json:"host"`
	Command  *string           `json:"command"`
	Argv     []string          `json:"argv"`
	Stdin    *string           `json:"stdin"`
	Env      map[string]string `json:"env"`
	TimeoutS *int              `json:"timeout_s"`
	MaxBytes *int              `json:"max_bytes"`
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

func renderSSHExec(raw json.RawMessage) (Draft, error) {
	var a sshExecArgs
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	c := &checker{}
	d := &SSHDraft{Host: a.Host, Timeout: c.timeout(a.TimeoutS, 3600), MaxBytes: c.maxBytes(a.MaxBytes)}
	if a.Host == "" {
		c.add("/host", "the name of a host is due; list_targets shows them")
	}
	c.command(&a, d)
	if a.Stdin != nil {
		d.Stdin = []byte(*a.Stdin)
	}
	for _, name := range keys(a.Env) {
		if !envName.MatchString(name) {
			c.add("/env"+pointer(name), "is not a variable name: letters, digits and _, at most 128")
		}
		if name == action.MarkerName || name == action.MarkerFallback {
			c.add("/env"+pointer(name), "is set for you: it marks the processes of this call; leave it out")
		}
		if strings.ContainsRune(a.Env[name], 0) {
			c.add("/env"+pointer(name), "holds a NUL byte")
		}
		d.Env = append(d.Env, action.EnvVar{Name: name, Value: a.Env[name]})
	}
	return d, c.err()
}

func (c *checker) command(a *sshExecArgs, d *SSHDraft) {
	switch {
	case (a.Command == nil) == (a.Argv == nil):
		c.add("", "exactly one of command and argv is due")
	case a.Argv != nil:
		line, err := action.QuotePOSIX(a.Argv)
		if err != nil {
			c.add("/argv", err.Error())
		}
		d.Command, d.Argv = line, a.Argv
	case *a.Command == "":
		c.add("/command", "is empty")
	case strings.ContainsRune(*a.Command, 0):
		c.add("/command", "holds a NUL byte")
	default:
		d.Command = *a.Command
	}
}
