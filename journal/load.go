package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A row is an entry as it is read back: what its body says, its texts, and the
// fields of those that were taken out.
type row struct {
	*body
	at       time.Time
	texts    map[string]string
	redacted []string
}

// load reads entries by a condition on e, in order of seq, with their texts.
func load(ctx context.Context, q querier, cond string, args ...any) ([]row, error) {
	rows, err := q.QueryContext(ctx, "SELECT e.body, "+textColumnsOfT+" FROM entries AS e LEFT JOIN texts AS t ON t.seq = e.seq WHERE "+cond+" ORDER BY e.seq", args...)
	if err != nil {
		return nil, storeError("query", err)
	}
	defer rows.Close()
	var out []row
	for rows.Next() {
		var raw []byte
		var stored textRow
		if err := rows.Scan(append([]any{&raw}, stored.targets()...)...); err != nil {
			return nil, storeError("query", err)
		}
		r, err := readRow(raw, stored)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, storeError("query", err)
	}
	return out, nil
}

func readRow(raw []byte, stored textRow) (row, error) {
	b, t, err := readBody(raw)
	if err != nil {
		return row{}, err
	}
	found, err := stored.texts()
	if err != nil {
		return row{}, fmt.Errorf("%w: entry %d: %v", ErrTampered, b.Seq, err)
	}
	return newRow(b, t, found), nil
}

func newRow(b *body, at time.Time, list texts) row {
	r := row{body: b, at: at, texts: make(map[string]string, len(list))}
	for _, x := range list {
		if x.taken != nil {
			r.redacted = append(r.redacted, x.field)
		} else {
			r.texts[x.field] = string(x.value)
		}
	}
	return r
}

// textColumnsOfT is textColumns of a table t.
const textColumnsOfT = `t.action_digest, t.downstream_target, t.credential, t.client_name, t.tool, t.rest`

// activity makes the record of an intent or a refused entry.
func (r row) activity() Activity {
	c := r.Call
	if c == nil {
		c = &callBody{}
	}
	a := Activity{
		ActivityID: r.ActivityID, SessionID: r.SessionID, Seq: r.Seq, Time: r.at,
		Tool: c.Tool, KnownTool: c.Tool != "", Count: c.Count,
		SchemaRevision: c.SchemaRevision, DeclaredRevision: c.DeclaredRevision, RevisionEvidence: c.RevisionEvidence,
		Adapter: c.Adapter, ContractDigest: c.ContractDigest,
		HandlerBuild: Build{Version: c.HandlerBuild.Version, VCSRevision: c.HandlerBuild.VCSRevision,
			VCSModified: c.HandlerBuild.VCSModified, BinarySHA256: c.HandlerBuild.BinarySHA256},
		RawArgs: r.texts[fieldRawArgs], NormalizedArgs: rawJSON(r.texts[fieldNormalizedArgs]),
		ActionDigest: r.texts[fieldActionDigest], DownstreamTarget: r.texts[fieldTarget],
		Decision: Decision{Result: c.Result, Level: c.Level, By: r.texts[fieldBy], Basis: r.texts[fieldBasis], Reason: r.texts[fieldReason],
			ApprovalID: c.ApprovalID, ShownDigest: r.texts[fieldShownDigest], ApprovalDigest: r.texts[fieldApprovalDigest]},
		Outcome: Outcome{Status: Running},
	}
	if a.Tool == "" {
		a.Tool = r.texts[fieldTool]
	}
	if c.CredentialVersion != nil {
		a.Credential = &Credential{Name: r.texts[fieldCredential], Version: *c.CredentialVersion}
	}
	a.Redacted = r.redacted
	r.settle(&a)
	return a
}

// settle adds the outcome that r holds, if any.
func (r row) settle(a *Activity) {
	if r.Outcome == nil {
		return
	}
	o := r.Outcome
	a.Outcome = Outcome{Status: o.Status, ErrorCode: o.ErrorCode, SideEffectStarted: o.SideEffectStarted,
		HTTPStatus: o.HTTPStatus, ExitCode: o.ExitCode, Bytes: o.Bytes, ResponseSHA256: r.texts[fieldResponse],
		Redactions: o.Redactions, DurationMS: o.DurationMS}
	a.Downstream = rawJSON(r.texts[fieldDownstream])
	if r.Kind == kindOutcome {
		a.Settled, a.SettledSeq = &r.at, r.Seq
		a.Redacted = slices.Concat(a.Redacted, r.redacted)
	}
}

func rawJSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
