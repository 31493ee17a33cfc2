package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A row is an entry as it is read back: what its body says, and its texts.
type row struct {
	*body
	at    time.Time
	texts map[string]string
}

// load reads entries by a condition on e, in order of seq, with their texts.
func load(ctx context.Context, q querier, cond string, args ...any) ([]row, error) {
	rows, err := q.QueryContext(ctx, "SELECT e.body FROM entries AS e WHERE "+cond+" ORDER BY e.seq", args...)
	if err != nil {
		return nil, storeError("query", err)
	}
	defer rows.Close()
	var out []row
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, storeError("query", err)
		}
		b, t, err := readBody(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, row{b, t, map[string]string{}})
	}
	if err := rows.Err(); err != nil {
		return nil, storeError("query", err)
	}
	rows.Close()
	return out, loadTexts(ctx, q, out)
}

func loadTexts(ctx context.Context, q querier, entries []row) error {
	seqs := make([]int64, len(entries))
	bySeq := make(map[int64]row, len(entries))
	for i, e := range entries {
		seqs[i] = e.Seq
		bySeq[e.Seq] = e
	}
	rows, err := q.QueryContext(ctx, `SELECT t.seq, `+textColumnsOfT+` FROM json_each(?) AS j CROSS JOIN texts AS t ON t.seq = j.value`, list(seqs))
	if err != nil {
		return storeError("query", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		var stored textRow
		if err := rows.Scan(append([]any{&seq}, stored.targets()...)...); err != nil {
			return storeError("query", err)
		}
		found, err := stored.texts()
		if err != nil {
			return fmt.Errorf("%w: entry %d: %v", ErrTampered, seq, err)
		}
		for _, x := range found {
			bySeq[seq].texts[x.field] = string(x.value)
		}
	}
	if err := rows.Err(); err != nil {
		return storeError("query", err)
	}
	return nil
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
		Tool: c.Tool, KnownTool: c.Tool != "",
		SchemaRevision: c.SchemaRevision, DeclaredRevision: c.DeclaredRevision, RevisionEvidence: c.RevisionEvidence,
		Adapter: c.Adapter, ContractDigest: c.ContractDigest,
		HandlerBuild: Build{Version: c.HandlerBuild.Version, VCSRevision: c.HandlerBuild.VCSRevision,
			VCSModified: c.HandlerBuild.VCSModified, BinarySHA256: c.HandlerBuild.BinarySHA256},
		RawArgs: r.texts[fieldRawArgs], NormalizedArgs: rawJSON(r.texts[fieldNormalizedArgs]),
		ActionDigest: r.texts[fieldActionDigest], DownstreamTarget: r.texts[fieldTarget],
		Decision: Decision{Result: c.Result, Level: c.Level, By: r.texts[fieldBy], Basis: r.texts[fieldBasis],
			ApprovalID: c.ApprovalID, ShownDigest: r.texts[fieldShownDigest], ApprovalDigest: r.texts[fieldApprovalDigest]},
		Outcome: Outcome{Status: Running},
	}
	if a.Tool == "" {
		a.Tool = r.texts[fieldTool]
	}
	if c.CredentialVersion != nil {
		a.Credential = &Credential{Name: r.texts[fieldCredential], Version: *c.CredentialVersion}
	}
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
}

func rawJSON(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}
