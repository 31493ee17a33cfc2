package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// maxBatch bounds the entries of one transaction.
const maxBatch = 256

// A pending entry waits for a commit. done is closed when seq or err is set.
type pending struct {
	*entry
	done chan struct{}
	seq  int64
	err  error
}

// A queue lets callers that arrive together share one commit. Whoever finds
// the turn free takes it and commits for all that wait; the others come upon
// their entry done. So there is no goroutine to own or to stop.
type queue struct {
	turn    chan struct{} // holds a token while a commit is under way
	mu      sync.Mutex
	waiting []*pending
}

func newQueue() *queue { return &queue{turn: make(chan struct{}, 1)} }

func (q *queue) put(e *entry) *pending {
	p := &pending{entry: e, done: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, p)
	return p
}

func (q *queue) take() []*pending {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxBatch)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

// withdraw takes p back unless a commit has it already.
func (q *queue) withdraw(p *pending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, p)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// append writes e durably and returns its seq. When ctx ends while e waits,
// nothing is written; once a commit has it, its fate is awaited, because
// "perhaps" is no answer. SQLite's busy timeout of 10 s bounds that.
func (j *Journal) append(ctx context.Context, e *entry) (int64, error) {
	if err := e.seal(j.cfg.Rand); err != nil {
		return 0, err
	}
	p := j.queue.put(e)
	for {
		select {
		case <-p.done:
			return p.seq, p.err
		case <-ctx.Done():
			if j.queue.withdraw(p) {
				return 0, fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
			}
			<-p.done
			return p.seq, p.err
		case j.queue.turn <- struct{}{}:
			j.commit(context.WithoutCancel(ctx), j.queue.take())
			<-j.queue.turn
		}
	}
}

// commit writes a batch and tells its callers.
func (j *Journal) commit(ctx context.Context, batch []*pending) {
	if len(batch) == 0 {
		return
	}
	err := j.write(ctx, batch)
	for _, p := range batch {
		if err != nil && p.err == nil {
			p.err = err
		}
		if p.err != nil {
			p.seq = 0
		}
		close(p.done)
	}
}
