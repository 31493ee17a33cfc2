package sshrun

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/executor"
)

// A process is a remote command and what came of it so far.
type process struct {
	session     *session
	out, errOut *sink
	ended       chan struct{} // an exit code or signal arrived
	closed      chan struct{} // both streams and the channel ended

	mu       sync.Mutex
	exit     *int
	signal   string
	leftOpen bool
}

// newProcess begins to drain the session. Its goroutines end with the channel,
// and at the latest with the connection.
func newProcess(s *session, maxBytes int) *process {
	p := &process{
		session: s, out: newSink(maxBytes), errOut: newSink(maxBytes),
		ended: make(chan struct{}), closed: make(chan struct{}),
	}
	parts := []func(){
		func() { p.out.drain(s.channel) },
		func() { p.errOut.drain(s.channel.Stderr()) },
		p.listen,
	}
	var left atomic.Int32
	left.Store(int32(len(parts)))
	for _, part := range parts {
		s.slot.conn.wg.Go(func() {
			part()
			if left.Add(-1) == 0 {
				close(p.closed)
			}
		})
	}
	return p
}

// feed sends standard input and its end.
func (p *process) feed(stdin []byte) {
	if len(stdin) > 0 {
		if _, err := p.session.channel.Write(stdin); err != nil {
			return
		}
	}
	p.session.channel.CloseWrite()
}

// listen takes what the server says of the command's end (RFC 4254 section 6.10).
func (p *process) listen() {
	for req := range p.session.requests {
		var status struct{ Status uint32 }
		var signal struct {
			Name       string
			CoreDumped bool
			Message    string
			Language   string
		}
		switch {
		case req.Type == "exit-status" && ssh.Unmarshal(req.Payload, &status) == nil:
			code := int(status.Status)
			p.end(&code, "")
		case req.Type == "exit-signal" && ssh.Unmarshal(req.Payload, &signal) == nil:
			p.end(nil, signalName(signal.Name))
		}
		if req.WantReply {
			req.Reply(false, nil)
		}
	}
}

func (p *process) end(exit *int, signal string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exit != nil || p.signal != "" {
		return
	}
	p.exit, p.signal = exit, signal
	close(p.ended)
}

// signalName keeps a name that looks like one; the rest is a stranger's text.
func signalName(name string) string {
	if len(name) > 16 || name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") != "" {
		return "unknown"
	}
	return name
}

// wait returns nil when the command ended or its channel was closed.
func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.closed:
		return p.lost()
	case <-p.ended:
		p.afterEnd()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// lost tells a channel that the server closed from a connection that ended.
func (p *process) lost() error {
	if p.hasEnded() {
		return nil
	}
	select {
	case <-p.session.slot.conn.dead:
		return errLost
	case <-time.After(settle):
		return nil
	}
}

// afterEnd waits for the rest of the output: as long as some comes, within
// linger. What then still holds the channel is something that the command left behind.
func (p *process) afterEnd() {
	begin := time.Now()
	tick := time.NewTicker(quiet / 10)
	defer tick.Stop()
	for {
		select {
		case <-p.closed:
			return
		case <-tick.C:
		}
		last := latest(begin, p.out.last(), p.errOut.last())
		if time.Since(last) >= quiet || time.Since(begin) >= linger {
			p.leaveOpen()
			return
		}
	}
}

func (p *process) leaveOpen() {
	p.mu.Lock()
	p.leftOpen = true
	p.mu.Unlock()
	p.stop(false)
}

// stop closes the channel, after TERM and KILL if signalled is true. A connection
// that does not take even that is closed.
func (p *process) stop(signalled bool) {
	taken := make(chan struct{})
	p.session.slot.conn.wg.Go(func() {
		defer close(taken)
		if signalled {
			p.send("TERM")
			p.send("KILL")
		}
		p.session.channel.Close()
	})
	select {
	case <-taken:
	case <-time.After(stopLimit):
		p.session.slot.conn.close()
	}
	select {
	case <-p.closed:
	case <-time.After(settle):
	}
}

// send sends a signal and gives the process time to end of it.
func (p *process) send(signal string) {
	if p.hasEnded() {
		return
	}
	p.session.channel.SendRequest("signal", false, ssh.Marshal(struct{ Name string }{signal}))
	select {
	case <-p.ended:
	case <-p.closed:
	case <-time.After(signalWait):
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

// report writes what is known now.
func (p *process) report(r *executor.SSHResponse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.Exit, r.Signal, r.ChannelLeftOpen = p.exit, p.signal, p.leftOpen
	var out, errOut int64
	r.Stdout, r.StdoutTruncated, out = p.out.kept()
	r.Stderr, r.StderrTruncated, errOut = p.errOut.kept()
	r.Total = out + errOut
}
