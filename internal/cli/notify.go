package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"executor/approval"
	"executor/approval/console"
	"executor/internal/policy"

	"github.com/spf13/cobra"
)

const (
	// notifyTime is how long a notify-command may run; then it is killed with all
	// that it started.
	notifyTime = 10 * time.Second
	// notifyQueue is how many notes may wait for the one before; more are dropped.
	notifyQueue = 16
)

// callFlags say how a person is called to the screen.
type callFlags struct {
	bell    bool
	note    bool
	command string
}

func (c *callFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.bell, "bell", false, "ring the bell when a request comes onto the screen")
	cmd.Flags().BoolVar(&c.note, "notify", false, "have the terminal show a desktop note then (OSC 9)")
	cmd.Flags().StringVar(&c.command, "notify-command", "", "run `COMMAND` then, without a shell, with the request's short id as last argument")
}

// notifyEnv is what a notify-command gets of the environment: where to find
// programs and the desktop, nothing else.
var notifyEnv = []string{"PATH", "HOME", "USER", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"}

// A notifier runs the operator's command for each request, one at a time. It has
// no terminal, no open file of this program and no part of the request but its id.
type notifier struct {
	argv  []string
	env   []string
	limit time.Duration
	say   func(string)
	ids   chan string
}

// notifier reads --notify-command; nil when there is none.
func (a *app) notifier(command string, say func(string)) (*notifier, error) {
	if command == "" {
		return nil, nil
	}
	argv, err := policy.PlainWords(command)
	if err != nil {
		return nil, usagef("--notify-command: a program and its arguments are due; it runs without a shell (%v)", err)
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return nil, usagef("--notify-command: %v", err)
	}
	n := &notifier{argv: argv, limit: notifyTime, say: say, ids: make(chan string, notifyQueue), env: []string{}}
	for _, name := range notifyEnv {
		if v := a.Getenv(name); v != "" {
			n.env = append(n.env, name+"="+v)
		}
	}
	return n, nil
}

// note asks for a run for id, and never waits.
func (n *notifier) note(id string) {
	select {
	case n.ids <- id:
	default:
	}
}

// during runs fn with the notifier at work beside it. A nil notifier does nothing.
func (n *notifier) during(ctx context.Context, fn func() error) error {
	if n == nil {
		return fn()
	}
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case id := <-n.ids:
				if err := n.run(ctx, id); err != nil && ctx.Err() == nil {
					n.say(fmt.Sprintf("notify-command for %s: %v", id, err))
				}
			}
		}
	})
	return fn()
}

// run runs the command once, in a session of its own.
func (n *notifier) run(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, n.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, n.argv[0], append(n.argv[1:len(n.argv):len(n.argv)], id)...)
	cmd.Env, cmd.Dir = n.env, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("ended after %s", n.limit)
	}
	return err
}

// seat calls the notifier for each request that comes to a seat.
func (n *notifier) seat(s console.Seat) console.Seat {
	if n == nil {
		return s
	}
	return &notingSeat{s, n}
}

type notingSeat struct {
	console.Seat
	notifier *notifier
}

// Next passes an event on, and notes the id of a request.
func (s *notingSeat) Next(ctx context.Context) (approval.Event, error) {
	e, err := s.Seat.Next(ctx)
	if err == nil && e.Kind == approval.Opened {
		s.notifier.note(e.ID)
	}
	return e, err
}
