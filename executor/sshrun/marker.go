package sshrun

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"

	"executor/internal/action"
)

// markerUnknown: the server was not asked yet which name of the marker it takes.
const markerUnknown = "?"

// mark puts the activity's id into the environment of the command, by the first
// name that the server takes, and returns it as "NAME=VALUE"; "" when it takes none.
// What the server answered holds for the connection: later sessions do not wait for it.
func (s *session) mark(ctx context.Context, activity string) (string, error) {
	if activity == "" {
		return "", nil
	}
	if known := s.slot.conn.marker(); known != markerUnknown {
		if known == "" {
			return "", nil
		}
		s.unasked = ssh.Marshal(action.EnvVar{Name: known, Value: activity})
		return known + "=" + activity, nil
	}
	for _, name := range []string{action.MarkerName, action.MarkerFallback} {
		ok, err := s.request(ctx, "env", ssh.Marshal(action.EnvVar{Name: name, Value: activity}), nil)
		if ok || err != nil {
			return s.marked(name, activity, err)
		}
	}
	s.slot.conn.setMarker("")
	return "", nil
}

func (s *session) marked(name, activity string, err error) (string, error) {
	if err != nil {
		s.end()
		return "", err
	}
	s.slot.conn.setMarker(name)
	return name + "=" + activity, nil
}

// findIt says how the operator finds the process on the host: by its mark in
// /proc, or where the server took none by its command line.
func (c *call) findIt() string {
	hop := c.action.Hops[len(c.action.Hops)-1]
	if c.marker != "" {
		return fmt.Sprintf("look for it on %s, as %s, with: grep -lzsx -- %s /proc/[0-9]*/environ", c.action.Host, hop.User, c.marker)
	}
	line := c.action.Command
	if i := strings.IndexAny(line, "\n\r"); i >= 0 {
		line = line[:i]
	}
	pattern, err := action.QuotePOSIX([]string{regexp.QuoteMeta(line[:min(len(line), 80)])})
	if err != nil {
		return "look for it on " + c.action.Host
	}
	return "look for it on " + c.action.Host + " with: pgrep -u " + hop.User + " -af -- " + pattern
}
