package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"executor/internal/daemon"
	"executor/internal/drift"
	"executor/internal/mcpclient"
	"executor/internal/term"
	"executor/internal/watchlist"
	"executor/journal"

	"github.com/spf13/cobra"
)

// leastEvery bounds how often watch reads.
const leastEvery = time.Second

func (a *app) contractWatch() *cobra.Command {
	var from targetFlags
	var store storeFlags
	var pass passphraseFlags
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "watch [--server NAME]",
		Short: "Go on reading servers, and say when one changes",
		Long: `Read a server (--server, --stdio or --http), or without one all that are
registered, again and again: every so often, and at once when it says
list_changed. Each change is one line, the snapshot is kept, and, where the home
is in use, one entry goes to the journal. For that the passphrase is asked; with
--store DIR and no credential there is no journal and no passphrase. The first
comparison is with the pin, else with what was read last. It blocks nothing.

Ends with Ctrl-C. Exit code: 0 nothing changed or compatibly, 10 something
broke, 11 a person must look, 1 a server was never reached.`,
		Example: `  executor contract watch --every 5m
  executor contract watch --store contracts --name mine --stdio -- ./my-server`,
		Args: serverArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if every < leastEvery {
				return usagef("--every %s: a time from %s up is due", every, leastEvery)
			}
			st, err := a.contractStore(&store)
			if err != nil {
				return err
			}
			sources, sealed, err := watchSources(cmd, args, &from, st)
			if err != nil {
				return err
			}
			w := &watcher{app: a, store: st, every: every}
			if store.dir != "" && !sealed {
				return w.run(cmd.Context(), sources)
			}
			return a.read(cmd.Context(), &pass, func(h *daemon.Home) error {
				return w.runWith(cmd.Context(), h, sources)
			})
		},
	}
	cmd.Flags().DurationVar(&every, "every", 5*time.Minute, "`TIME` between two readings")
	from.register(cmd)
	store.register(cmd)
	pass.register(cmd)
	return cmd
}

// watchSources are the servers to watch. sealed: one of them needs the vault.
func watchSources(cmd *cobra.Command, args []string, from *targetFlags, st contractStore) (out []contractSource, sealed bool, err error) {
	if from.given() || len(args) > 0 {
		s, err := from.source(cmd, args, st)
		if s.self {
			err = usagef("this executor changes only when it is another build; compare it with: executor contract diff --server self%s", st.flags)
		}
		return []contractSource{s}, s.Credential != "", err
	}
	if from.name != "" || from.http.Credential != "" {
		return nil, false, usagef("--name and --credential go with --stdio or --http")
	}
	servers, err := st.Servers()
	if err == nil && len(servers) == 0 {
		err = usagef("no server is registered in %s; name one, or register it with: executor contract server add NAME%s", st.dir(), st.flags)
	}
	for _, s := range servers {
		out = append(out, contractSource{Server: s, timeout: from.timeout})
		sealed = sealed || s.Credential != ""
	}
	return out, sealed, err
}

// A watcher watches some servers. Its lines and entries come one at a time.
type watcher struct {
	app     *app
	store   contractStore
	every   time.Duration
	journal *journal.Journal // nil: lines only

	mu        sync.Mutex
	worst     int // exit code so far
	unreached bool
}

// runWith watches with the home open: credentials are leased and entries written.
func (w *watcher) runWith(ctx context.Context, h *daemon.Home, sources []contractSource) error {
	w.journal = h.Journal
	for i, s := range sources {
		if s.Credential == "" {
			continue
		}
		x, err := authorize(ctx, h, s)
		if err != nil {
			return err
		}
		defer x.wipe()
		sources[i].authorize = x
	}
	return w.run(ctx, sources)
}

func (w *watcher) run(ctx context.Context, sources []contractSource) error {
	var all sync.WaitGroup
	failed := make(chan error, len(sources))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, s := range sources {
		o := &watched{watcher: w, contractSource: s}
		all.Go(func() {
			if err := o.watch(ctx); err != nil {
				failed <- err
				cancel()
			}
		})
	}
	all.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return err
	}
	switch {
	case w.worst != 0:
		return &silent{w.worst}
	case w.unreached:
		return &silent{exitFailed}
	}
	return nil
}

// say writes one line of the watch itself, beside the changes.
func (w *watcher) say(s contractSource, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.app.Err, "%s  %s  %s\n", time.Now().Format(time.DateTime), term.Safe(s.label()), term.Safe(text))
}

// A watched is one server under watch.
type watched struct {
	*watcher
	contractSource
	last    *drift.Snapshot // what the next reading is compared with
	since   string          // what last is at the beginning, in words
	reached bool
	down    bool
}

// watch goes on until the context ends. The error is that of the store or the journal.
func (o *watched) watch(ctx context.Context) error {
	if err := o.begin(); err != nil {
		return err
	}
	defer func() {
		if !o.reached {
			o.mu.Lock()
			o.unreached = true
			o.mu.Unlock()
		}
	}()
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for ctx.Err() == nil {
		if err := o.session(ctx, tick.C); err != nil {
			return err
		}
	}
	return nil
}

// begin finds what the first reading is compared with, if there is anything.
func (o *watched) begin() error {
	if o.Name == "" {
		return nil
	}
	snap, err := o.store.Pinned(o.Name)
	o.since = "the pin"
	if errors.Is(err, drift.ErrNotFound) {
		var hash string
		if hash, err = o.store.Seen(o.Name); errors.Is(err, watchlist.ErrUnseen) {
			return nil
		}
		if err == nil {
			snap, err = o.store.Get(hash)
		}
		o.since = "what was read last"
	}
	o.last = snap
	return err
}

// session reads the server on a new connection, and again at each word of a change,
// until tick. A new connection each time sees a command that was replaced.
func (o *watched) session(ctx context.Context, tick <-chan time.Time) error {
	changed := make(chan struct{}, 1)
	look := func() {
		select {
		case changed <- struct{}{}:
		default: // one reading sees all that changed
		}
	}
	greeting, cancel := context.WithTimeout(ctx, o.timeout)
	c, err := o.app.dial(greeting, o.contractSource, look)
	cancel()
	if err == nil {
		defer c.Close()
		look()
	} else {
		o.lost(ctx, err)
		changed = nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
			return nil
		case <-changed:
			if err := o.look(ctx, c); err != nil {
				return err
			}
			if !sleep(ctx, leastEvery/4) { // a burst of words is one
				return nil
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (o *watched) lost(ctx context.Context, err error) {
	if !o.down && ctx.Err() == nil {
		o.say(o.contractSource, "not reached: "+o.unread(err).Error())
	}
	o.down = true
}

// look reads once. What the server does wrong is a line; the error is our own.
func (o *watched) look(ctx context.Context, c *mcpclient.Client) error {
	bounded, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	r, err := o.list(bounded, c)
	if err != nil {
		o.lost(ctx, err)
		return nil
	}
	if o.down && o.reached {
		o.say(o.contractSource, "reached again")
	}
	o.down = false
	if !o.reached {
		since := "this reading"
		if o.last != nil {
			since = o.since
		}
		o.say(o.contractSource, "watching, compared with "+since+": "+describeSnapshot(r.snap))
		o.reached = true
	}
	return o.took(ctx, r)
}

// took compares a reading with the one before, and keeps it if it is another.
func (o *watched) took(ctx context.Context, r reading) error {
	before := o.last
	o.last = r.snap
	if before != nil && before.Hash() == r.snap.Hash() {
		return nil
	}
	hash, err := o.store.keep(o.Name, r.snap)
	if err != nil || before == nil {
		return err
	}
	report := drift.Diff(before, r.snap, r.opt)
	if err := o.record(context.WithoutCancel(ctx), before.Hash(), hash, report); err != nil {
		return err
	}
	line := changeLine(time.Now(), o.label(), hash, report)
	if width := terminalWidth(o.app.Out); width > 0 {
		line = term.Truncate(line, width)
	}
	_, err = fmt.Fprintln(o.app.Out, line)
	return err
}

// changeLine is one change of a contract: when, whose, how bad, the snapshot's
// hash, the worst of it.
func changeLine(now time.Time, label, hash string, r drift.Report) string {
	what := "nothing that a call could meet"
	if len(r.Changes) > 0 {
		worst := r.Changes[0]
		for _, c := range r.Changes {
			if c.Class == r.Verdict {
				worst = c
				break
			}
		}
		what = worst.Path + " [" + worst.Rule + "]"
		if n := len(r.Changes) - 1; n > 0 {
			what += fmt.Sprintf(" and %d more", n)
		}
	}
	verdict := string(r.Verdict)
	if r.Verdict == drift.Breaking {
		verdict = strings.ToUpper(verdict)
	}
	return term.Safe(fmt.Sprintf("%s  %s  %s  %s  %s", now.Format(time.DateTime), label, verdict, shortHash(hash), what))
}

// maxJournaled is how many changes an entry names.
const maxJournaled = 20

// record counts a change, and writes its entry.
func (o *watched) record(ctx context.Context, before, after string, r drift.Report) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case r.Verdict == drift.Breaking:
		o.worst = exitBreaking
	case r.Verdict == drift.NeedsHuman && o.worst == 0:
		o.worst = exitNeedsPerson
	}
	if o.journal == nil {
		return nil
	}
	type change struct {
		Rule  string      `json:"rule"`
		Path  string      `json:"path"`
		Class drift.Class `json:"class"`
	}
	changes := []change{}
	for _, c := range r.Changes[:min(len(r.Changes), maxJournaled)] {
		changes = append(changes, change{c.Rule, c.Path, c.Class})
	}
	detail, err := json.Marshal(map[string]any{
		"server": o.label(), "verdict": r.Verdict, "before": before, "after": after, "changes": changes, "total": len(r.Changes),
	})
	if err != nil {
		return err
	}
	return o.journal.RecordChange(ctx, journal.Change{Time: time.Now(), Action: "contract.changed", By: "contract watch", Detail: detail})
}
