package mask

import (
	"errors"
	"io"
	"maps"
)

// ErrWiped is returned by a Writer whose Set was wiped, is nil or is the zero
// value: what it has and what it gets is dropped.
var ErrWiped = errors.New("masking secrets are wiped")

// ErrClosed is returned by Write after Close or Cut.
var ErrClosed = errors.New("masking writer is closed")

// step is how much of one Write is scanned before output is written.
const step = 32 << 10

// cutLeft is the longest begin of a secret, in bytes of the stream, that may
// stay at the end of a stream that was cut. One more may stand before it: the
// character of base64 that a secret shares with its neighbour.
const cutLeft = 5

// A Report says what a filter found.
type Report struct {
	Redactions map[string]int // masks put in, by name of the credential; nil for none
	WeakSeen   bool           // a weak secret of the credential in use came by: withhold the result
	Wiped      bool           // the Set cannot mask: nothing was let through
}

// Total returns the number of masks put in.
func (r Report) Total() int {
	n := 0
	for _, count := range r.Redactions {
		n += count
	}
	return n
}

// A Writer passes a stream on with secrets masked. What may be the begin of a
// secret is held back until more comes, or Close. It is not for concurrent use.
type Writer struct {
	set      *Set
	dst      io.Writer
	next     *Writer  // dst, where derived secrets are looked for as well
	strong   *scanner // nil when there is nothing to look for
	weak     *scanner // nil when the credential in use has no weak secret
	buf      []byte   // of the stream, from base on
	base     int
	clusters clusters
	out      []byte
	report   Report
	err      error
}

// Write scans p and writes what is settled to the destination. It returns
// len(p), or 0 and the error of the destination, ErrWiped or ErrClosed; an
// error is returned by every later call as well.
func (w *Writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0 && w.err == nil; {
		n := min(len(rest), step)
		w.pass(rest[:n])
		rest = rest[n:]
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Close writes what was held back. It does not close the destination. The
// second call, or one after Cut, does nothing.
func (w *Writer) Close() error { return w.end(false) }

// Cut is Close for a stream that ends because it was cut, perhaps in the middle
// of a secret: a begin of one at the end is masked, so that 8 characters of it,
// in any encoding, are never left.
func (w *Writer) Cut() error { return w.end(true) }

// Report returns what was found so far; all of it after Close or Cut.
func (w *Writer) Report() Report {
	r := w.report
	r.Redactions = maps.Clone(r.Redactions)
	if w.next == nil {
		return r
	}
	further := w.next.Report()
	r.WeakSeen, r.Wiped = r.WeakSeen || further.WeakSeen, r.Wiped || further.Wiped
	for name, n := range further.Redactions {
		if r.Redactions == nil {
			r.Redactions = map[string]int{}
		}
		r.Redactions[name] += n
	}
	return r
}

func (w *Writer) pass(p []byte) {
	if !w.locked(func() {
		from := len(w.buf)
		w.buf = append(w.buf, p...)
		end := w.base + len(w.buf)
		hold := end
		for _, s := range w.scanners() {
			s.scan(w.buf, w.base, from)
			hold = min(hold, s.hold(w.buf, w.base, end))
		}
		w.settle(hold)
	}) {
		return
	}
	w.send()
}

func (w *Writer) end(cut bool) error {
	if errors.Is(w.err, ErrClosed) {
		return nil
	}
	if w.err == nil && w.locked(func() {
		end := w.base + len(w.buf)
		if cut {
			w.cut(end)
		}
		for _, s := range w.scanners() {
			s.finish()
		}
		w.settle(end)
	}) {
		w.send()
	}
	clear(w.buf[:cap(w.buf)])
	if w.next != nil {
		if err := w.next.end(cut); w.err == nil {
			w.err = err
		}
	}
	err := w.err
	if err == nil {
		w.err = ErrClosed
	}
	return err
}

func (w *Writer) cut(end int) {
	for _, s := range w.scanners() {
		s.partial(w.buf, w.base, end, func(h hit) {
			if h.end-h.start > cutLeft {
				s.found(h)
			}
		})
	}
}

func (w *Writer) scanners() []*scanner {
	var all [2]*scanner
	some := all[:0]
	for _, s := range [...]*scanner{w.strong, w.weak} {
		if s != nil {
			some = append(some, s)
		}
	}
	return some
}

// locked runs fn while the Set cannot be wiped, and reports whether it did.
func (w *Writer) locked(fn func()) bool {
	if !w.set.use(fn) {
		w.err, w.report.Wiped = ErrWiped, true
		clear(w.buf[:cap(w.buf)])
		w.buf = w.buf[:0]
		return false
	}
	return true
}

// settle moves the stream before hold to the output, masked. A cluster that
// reaches beyond waits: what is found later may still overlap it.
func (w *Writer) settle(hold int) {
	at, done := w.base, 0
	for _, c := range w.clusters {
		if c.end > hold {
			hold = min(hold, c.start)
			break
		}
		w.out = append(w.out, w.buf[at-w.base:c.start-w.base]...)
		w.out = append(w.out, Mask(w.set.names[c.owner])...)
		w.count(w.set.names[c.owner])
		at = c.end
		done++
	}
	w.out = append(w.out, w.buf[at-w.base:hold-w.base]...)
	w.clusters = append(w.clusters[:0], w.clusters[done:]...)
	if hold > w.base {
		w.buf = w.buf[:copy(w.buf, w.buf[hold-w.base:])]
		w.base = hold
	}
}

func (w *Writer) count(name string) {
	if w.report.Redactions == nil {
		w.report.Redactions = make(map[string]int)
	}
	w.report.Redactions[name]++
}

func (w *Writer) send() {
	if len(w.out) == 0 {
		return
	}
	n, err := w.dst.Write(w.out)
	if err == nil && n < len(w.out) {
		err = io.ErrShortWrite
	}
	w.err = err
	w.out = w.out[:0]
}
