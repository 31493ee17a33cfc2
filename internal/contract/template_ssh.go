package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"executor/internal/action"
)

type sshTemplate struct {
	host  string
	argv  []text
	stdin text
	args  []string
}

func compileSSH(s *SSHTemplate, in *input) (*sshTemplate, error) {
	t := &sshTemplate{host: s.Host}
	if s.Host == "" || strings.ContainsAny(s.Host, "{}") {
		return nil, errors.New("ssh: host: the name of a host is due, as a constant")
	}
	if len(s.Argv) == 0 || strings.ContainsAny(s.Argv[0], "{}") || s.Argv[0] == "" {
		return nil, errors.New("ssh: argv: the program, as a constant, and its arguments are due")
	}
	for i, element := range s.Argv {
		parsed, err := parseText(element)
		if err != nil {
			return nil, fmt.Errorf("ssh: argv, element %d: %w", i, err)
		}
		t.argv = append(t.argv, parsed)
	}
	var err error
	if t.stdin, err = parseText(s.Stdin); err != nil {
		return nil, fmt.Errorf("ssh: stdin: %w", err)
	}
	for _, x := range append(append([]text{}, t.argv...), t.stdin) {
		for _, arg := range x.uses() {
			if err := in.scalarOnly(arg); err != nil {
				return nil, fmt.Errorf("ssh: %w", err)
			}
		}
		t.args = append(t.args, x.uses()...)
	}
	return t, nil
}

func (t *sshTemplate) uses() []string { return t.args }

// render quotes argv for a POSIX shell. An element whose argument is absent is
// left out whole.
func (t *sshTemplate) render(args map[string]json.RawMessage) (Draft, error) {
	d := &SSHDraft{Host: t.host, Timeout: defaultTimeout, MaxBytes: defaultMaxBytes}
	options := true // until "--"
	for _, element := range t.argv {
		s, ok, err := element.expand(args)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if options && len(element) > 0 && element[0].arg != "" && strings.HasPrefix(s, "-") {
			return nil, action.Problems{{Path: pointer(element[0].arg), Problem: "begins with '-': it would be taken for an option of the command"}}
		}
		if s == "--" && len(element) == 1 && element[0].arg == "" {
			options = false
		}
		d.Argv = append(d.Argv, s)
	}
	line, err := action.QuotePOSIX(d.Argv)
	if err != nil {
		return nil, action.Problems{{Problem: "the command cannot be quoted: " + err.Error()}}
	}
	d.Command = line
	stdin, ok, err := t.stdin.expand(args)
	if err != nil {
		return nil, err
	}
	if ok && len(t.stdin) > 0 {
		d.Stdin = []byte(stdin)
	}
	return d, nil
}
