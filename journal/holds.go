package journal

import (
	"context"
	"iter"
	"slices"
)

// Holds says of an activity in hand what the queries say of those that are
// stored: whether f selects it, N and Reverse aside. Client is the name of its
// session's client.
func (f Filter) Holds(a Activity, client string) bool {
	if a.Seq <= f.After || !f.Since.IsZero() && a.Time.Before(f.Since) || !f.Until.IsZero() && a.Time.After(f.Until) {
		return false
	}
	if f.Grep != nil && !f.found(a, client) {
		return false
	}
	return f.Match.all(a, client) && !f.Exclude.any(a, client)
}

// asked gives for each field that m asks about whether a has one of the values.
func (m Match) asked(a Activity, client string) iter.Seq[bool] {
	credential := ""
	if a.Credential != nil {
		credential = a.Credential.Name
	}
	return func(yield func(bool) bool) {
		for _, x := range []struct {
			list  []string
			value string
		}{
			{m.Session, a.SessionID}, {m.Client, client}, {m.Tool, a.Tool}, {m.Target, a.DownstreamTarget},
			{m.Status, a.Outcome.Status}, {m.Decision, a.Decision.Result}, {m.Credential, credential},
		} {
			if len(x.list) > 0 && !yield(slices.Contains(x.list, x.value)) {
				return
			}
		}
		if len(m.Revision) > 0 {
			yield(slices.Contains(m.Revision, a.SchemaRevision))
		}
	}
}

func (m Match) all(a Activity, client string) bool {
	for hit := range m.asked(a, client) {
		if !hit {
			return false
		}
	}
	return true
}

func (m Match) any(a Activity, client string) bool {
	for hit := range m.asked(a, client) {
		if hit {
			return true
		}
	}
	return false
}

// found looks for f.Grep in what a person would read of a.
func (f Filter) found(a Activity, client string) bool {
	credential := ""
	if a.Credential != nil {
		credential = a.Credential.Name
	}
	return slices.ContainsFunc([]string{
		a.Tool, a.DownstreamTarget, a.RawArgs, string(a.NormalizedArgs), string(a.Downstream), credential, client,
		a.Outcome.Status, a.Outcome.ErrorCode, a.Decision.Result, a.Decision.By, a.Decision.Basis, a.Decision.Reason, a.Adapter,
		a.ActivityID, a.SessionID, a.ActionDigest,
	}, f.Grep.MatchString)
}

// grep walks what the other parts of f select, until there are f.N.
func (r *Reader) grep(ctx context.Context, f Filter, yield func(Activity, error) bool) {
	clients := map[string]string{}
	walked := f
	walked.Grep, walked.N = nil, 0
	walked.Reverse = f.Reverse || f.N > 0
	var kept []Activity
	for a, err := range r.Activities(ctx, walked) {
		if err != nil {
			yield(Activity{}, err)
			return
		}
		client, err := r.client(ctx, clients, a.SessionID)
		if err != nil {
			yield(Activity{}, err)
			return
		}
		if !f.found(a, client) {
			continue
		}
		if f.N == 0 {
			if !yield(a, nil) {
				return
			}
			continue
		}
		if kept = append(kept, a); len(kept) == f.N {
			break
		}
	}
	if !f.Reverse {
		slices.Reverse(kept)
	}
	for _, a := range kept {
		if !yield(a, nil) {
			return
		}
	}
}

// Client returns the name that the client of a session gave itself.
func (r *Reader) Client(ctx context.Context, session string) (string, error) {
	return r.client(ctx, map[string]string{}, session)
}

func (r *Reader) client(ctx context.Context, known map[string]string, session string) (string, error) {
	if name, ok := known[session]; ok {
		return name, nil
	}
	rows, err := load(ctx, r.db, "e.session_id = ? AND e.of IS NULL AND e.kind = 'session.open'", session)
	if err != nil {
		return "", err
	}
	known[session] = ""
	if len(rows) > 0 {
		known[session] = rows[0].texts[fieldClientName]
	}
	return known[session], nil
}
