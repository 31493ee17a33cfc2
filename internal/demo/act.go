package demo

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"executor/internal/mcpclient"
	"executor/internal/term"
)

// An agent is an MCP client that runs executor mcp, as an AI agent would.
type agent struct{ *mcpclient.Client }

// act is what the agent does.
func (s *story) act(ctx context.Context) error {
	cmd := exec.Command(s.Binary, "mcp", "--home", s.dir)
	cmd.Env = s.Environ
	client, err := mcpclient.Start(ctx, cmd, "demo agent", "1.0")
	if err != nil {
		return err
	}
	defer client.Close()
	s.agent = &agent{client}
	if err := s.list(ctx); err != nil {
		return err
	}
	base := s.api.prefix()
	for _, step := range []struct{ title, why, tool, args string }{
		{"The agent reads an order", "A read is asked about once in a session.",
			"http_request", `{"method":"GET","url":"` + base + `orders/7"}`},
		{"It reads another", "Your yes covers this one: nobody is asked.",
			"http_request", `{"method":"GET","url":"` + base + `orders/8"}`},
		{"It refunds the order", "A change is asked about each time.",
			"http_request", `{"method":"POST","url":"` + base + `refunds","json":{"order":7,"amount":42}}`},
		{"It restarts a service over SSH", "So is a command. The agent knows the host by name only.",
			"ssh_exec", `{"host":"web-1","argv":["systemctl","restart","shop"]}`},
		{"It asks an endpoint that echoes the token back", "What comes back is searched for every secret of the vault.",
			"http_request", `{"method":"GET","url":"` + base + `debug"}`},
		{"It tries a host of its own choosing", "Hosts come from you alone; a refusal has no effect, and says what may be done.",
			"ssh_exec", `{"host":"db.internal","command":"uptime"}`},
	} {
		s.chapter(step.title)
		s.say("%s\n\nagent → %s %s", step.why, step.tool, step.args)
		if err := s.call(ctx, step.tool, step.args); err != nil {
			return err
		}
	}
	return s.search()
}

func (s *story) list(ctx context.Context) error {
	s.chapter("An agent connects: executor mcp, tools/list")
	tools, err := s.agent.Tools(ctx)
	if err != nil {
		return err
	}
	for _, t := range tools {
		s.say("%-13s revision %d", term.Safe(t.Name), t.Revision)
	}
	return nil
}

func (s *story) call(ctx context.Context, tool, args string) error {
	res, err := s.agent.Call(ctx, tool, json.RawMessage(args))
	if err != nil {
		return err
	}
	s.got.Write(res.Structured)
	word := "result"
	if res.IsError {
		word = "refusal"
	}
	s.say("agent ← %s %s", word, term.Safe(short(res.Structured)))
	return nil
}

// short drops from a result what would make the story long.
func short(raw json.RawMessage) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return string(raw)
	}
	for _, k := range []string{"headers", "final_url", "duration_ms", "content_type", "truncated", "bytes", "channel_left_open", "may_still_run", "schema_revision", "problems", "tool"} {
		delete(m, k)
	}
	out, err := json.Marshal(m)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

var errLeak = errors.New("the token was found in what the agent got")

// search looks for the token in everything that the agent was given.
func (s *story) search() error {
	s.chapter("Is the token in anything that the agent got?")
	var found error
	err := s.token.Use(func(token []byte) error {
		for form, needle := range map[string][]byte{
			"raw": token, "hex": []byte(hex.EncodeToString(token)), "base64": []byte(base64.StdEncoding.EncodeToString(token))[:40],
		} {
			if bytes.Contains(s.got.Bytes(), needle) {
				found = fmt.Errorf("%w, as %s", errLeak, form)
			}
		}
		return nil
	})
	if err := errors.Join(err, found); err != nil {
		return err
	}
	s.say("No: it is in none of the %d bytes, neither raw nor in hex or base64.", s.got.Len())
	return nil
}
