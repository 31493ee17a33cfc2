package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"time"
)

// Sessions yields the sessions that f selects, in the order in which they were opened.
func (r *Reader) Sessions(ctx context.Context, f Filter) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		ids, err := r.sessionIDs(ctx, f)
		if err != nil {
			yield(Session{}, err)
			return
		}
		for _, id := range ids {
			s, err := r.session(ctx, id)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// sessionIDs selects by what session.open entries hold.
func (r *Reader) sessionIDs(ctx context.Context, f Filter) ([]string, error) {
	s := selection{lo: f.After + 1, hi: math.MaxInt64}
	if err := s.boundTime(ctx, r.db, f); err != nil {
		return nil, err
	}
	conditions := append([]condition{{"e.of IS NULL AND e.kind = 'session.open'", nil},
		{"e.seq BETWEEN ? AND ?", []any{s.lo, s.hi}}}, s.conditions...)
	if len(f.Session) > 0 {
		conditions = append(conditions, condition{bySession.holds, []any{list(f.Session)}})
	}
	if len(f.Client) > 0 {
		conditions = append(conditions, condition{clientHolds, []any{list(f.Client)}})
	}
	limit := math.MaxInt64
	if f.N > 0 {
		limit = f.N
	}
	cond, args := where(conditions)
	rows, err := r.db.QueryContext(ctx, "SELECT e.session_id FROM entries AS e INDEXED BY entries_other WHERE "+cond+
		" ORDER BY e.seq DESC LIMIT ?", append(args, limit)...)
	if err != nil {
		return nil, storeError("query", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, storeError("query", err)
		}
		ids = append(ids, id)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, storeError("query", err)
	}
	if !f.Reverse {
		slices.Reverse(ids)
	}
	return ids, nil
}

// Session returns one session by its id or a prefix that fits no other.
// Errors to match: ErrNotFound, ErrAmbiguous.
func (r *Reader) Session(ctx context.Context, id string) (Session, error) {
	const query = `SELECT min(seq) FROM entries INDEXED BY entries_session
  WHERE of IS NULL AND session_id >= ? AND session_id < ? || char(1114111) GROUP BY session_id LIMIT 2`
	seqs, err := readSeqs(ctx, r.db, query, id, id)
	if err != nil {
		return Session{}, err
	}
	if err := onlyOne("session", id, len(seqs)); err != nil {
		return Session{}, err
	}
	var whole string
	if err := r.db.QueryRowContext(ctx, `SELECT session_id FROM entries WHERE seq = ?`, seqs[0]).Scan(&whole); err != nil {
		return Session{}, storeError("query", err)
	}
	return r.session(ctx, whole)
}

// session puts the record together from the session's entries.
func (r *Reader) session(ctx context.Context, id string) (Session, error) {
	entries, err := load(ctx, r.db, `e.session_id = ? AND e.of IS NULL AND e.kind IN
  ('session.open','session.close','session.catalog','session.grant','session.grant_end')`, id)
	if err != nil {
		return Session{}, fmt.Errorf("session %s: %w", id, err)
	}
	s := Session{SessionID: id, Grants: []Grant{}, Catalogs: []Catalog{}}
	for _, e := range entries {
		s.add(e)
	}
	s.Calls, err = r.calls(ctx, id)
	return s, err
}

func (s *Session) add(e row) {
	switch {
	case e.Kind == kindOpen && e.Session != nil:
		s.Opened, s.Transport, s.SameUID = e.at, e.Session.Transport, e.Session.SameUID
		s.Client = Client{e.texts[fieldClientName], e.texts[fieldClientVersion], e.texts[fieldClientProtocol]}
		s.Peer = rawJSON(e.texts[fieldPeer])
	case e.Kind == kindClose:
		s.Closed, s.CloseReason = &e.at, e.texts[fieldReason]
	case e.Kind == kindCatalog && e.Catalog != nil:
		s.Catalogs = append(s.Catalogs, Catalog{e.at, e.Catalog.Digest, e.Catalog.Tools})
	case e.Kind == kindGrant && e.Grant != nil:
		s.Grants = append(s.Grants, e.grant())
	case e.Kind == kindGrantEnd && e.Grant != nil:
		for i := range s.Grants {
			if g := &s.Grants[i]; g.ID == e.Grant.ID && g.Ended == nil {
				g.Ended, g.EndedBy = &e.at, e.texts[fieldBy]
			}
		}
	}
}

func (r row) grant() Grant {
	g := Grant{ID: r.Grant.ID, Time: r.at, Scope: r.texts[fieldScope], By: r.texts[fieldBy]}
	if t, err := time.Parse(time.RFC3339Nano, r.Grant.Expires); err == nil {
		g.Expires = &t
	}
	return g
}

// calls counts a session's activities by status. A refused entry may stand for many.
func (r *Reader) calls(ctx context.Context, id string) (map[string]int64, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT kind, coalesce(status, ''), sum(coalesce(count, 1)) FROM `+allCalls+`
  WHERE session_id = ? GROUP BY kind, status`, id)
	if err != nil {
		return nil, storeError("query", err)
	}
	defer rows.Close()
	calls := map[string]int64{"total": 0}
	for rows.Next() {
		var kind, status string
		var n int64
		if err := rows.Scan(&kind, &status, &n); err != nil {
			return nil, storeError("query", err)
		}
		switch kind {
		case kindIntent:
			calls["total"] += n
			calls[Running] += n
		case kindOutcome:
			calls[status] += n
			calls[Running] -= n
		case kindRefused:
			calls["total"] += n
			calls[status] += n
		}
	}
	if calls[Running] == 0 {
		delete(calls, Running)
	}
	if err := rows.Err(); err != nil {
		return nil, storeError("query", err)
	}
	return calls, nil
}

// isChange selects what is no call and no session.
const isChange = "e.of IS NULL AND e.kind IN ('change','vault.generation','redaction')"

// Changes yields the operator's changes, the generations of the vault and the
// redactions, in order. Of f only Since, Until, After, Grep, N and Reverse count.
func (r *Reader) Changes(ctx context.Context, f Filter) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		s := selection{lo: f.After + 1, hi: math.MaxInt64}
		if err := s.boundTime(ctx, r.db, f); err != nil {
			yield(Change{}, err)
			return
		}
		cond, args := where(append([]condition{{isChange, nil}, {"e.seq BETWEEN ? AND ?", []any{s.lo, s.hi}}}, s.conditions...))
		entries, err := load(ctx, r.db, cond, args...)
		if err != nil {
			yield(Change{}, err)
			return
		}
		var found []Change
		for _, e := range entries {
			if c := e.change(); f.Grep == nil || c.has(f.Grep) {
				found = append(found, c)
			}
		}
		if f.N > 0 {
			found = found[max(0, len(found)-f.N):]
		}
		if f.Reverse {
			slices.Reverse(found)
		}
		for _, c := range found {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (c Change) has(re *regexp.Regexp) bool {
	return slices.ContainsFunc([]string{c.Action, c.By, string(c.Detail)}, re.MatchString)
}

// Change returns the change with this seq. ErrNotFound: there is none.
func (r *Reader) Change(ctx context.Context, seq int64) (Change, error) {
	entries, err := load(ctx, r.db, isChange+" AND e.seq = ?", seq)
	if err != nil {
		return Change{}, err
	}
	if len(entries) == 0 {
		return Change{}, fmt.Errorf("change %d: %w", seq, ErrNotFound)
	}
	return entries[0].change(), nil
}

func (r row) change() Change {
	c := Change{Seq: r.Seq, Time: r.at, Action: r.Kind, By: r.texts[fieldBy]}
	if r.Change != nil {
		c.Generation, c.MAC = r.Change.Generation, r.Change.MAC
		if r.Change.Action != "" {
			c.Action = r.Change.Action
		}
	}
	if r.Redaction != nil {
		c.Action = "journal.redact"
		c.Detail, _ = json.Marshal(map[string]any{"entry": r.Redaction.Seq, "fields": r.Redaction.Fields, "reason": r.texts[fieldReason]})
		return c
	}
	if r.Kind == kindGeneration {
		c.Detail = rawJSON(list(r.texts[fieldDetail]))
	} else {
		c.Detail = rawJSON(r.texts[fieldDetail])
	}
	return c
}
