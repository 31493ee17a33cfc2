package cli

import (
	"fmt"
	"strconv"
	"time"

	"executor/journal"
)

// activityColumns are those of a table, and for csv those that scripts read: whole
// ids and times, under the names of the record.
func activityColumns(format string) []column[journal.Activity] {
	seq := column[journal.Activity]{"seq", func(x journal.Activity) string { return strconv.FormatInt(x.Seq, 10) }}
	tool := column[journal.Activity]{"tool", func(x journal.Activity) string { return x.Tool }}
	if format == "csv" {
		return []column[journal.Activity]{
			seq,
			{"time", func(x journal.Activity) string { return x.Time.Format(time.RFC3339Nano) }},
			{"activity_id", func(x journal.Activity) string { return x.ActivityID }},
			{"session_id", func(x journal.Activity) string { return x.SessionID }},
			tool,
			{"downstream_target", func(x journal.Activity) string { return x.DownstreamTarget }},
			{"decision", func(x journal.Activity) string { return x.Decision.Result }},
			{"status", func(x journal.Activity) string { return x.Outcome.Status }},
			{"error_code", func(x journal.Activity) string { return x.Outcome.ErrorCode }},
			{"http_status", func(x journal.Activity) string { return number(x.Outcome.HTTPStatus) }},
			{"exit_code", func(x journal.Activity) string { return number(x.Outcome.ExitCode) }},
		}
	}
	return []column[journal.Activity]{
		seq,
		{"time", func(x journal.Activity) string { return x.Time.Local().Format("01-02 15:04:05") }},
		tool,
		{"target", func(x journal.Activity) string { return x.DownstreamTarget }},
		{"decision", func(x journal.Activity) string { return x.Decision.Result }},
		{"status", func(x journal.Activity) string { return statusText(x) }},
	}
}

func number(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// statusText is the outcome in a word or two.
func statusText(x journal.Activity) string {
	switch o := x.Outcome; {
	case o.ErrorCode != "":
		return o.Status + " " + o.ErrorCode
	case o.HTTPStatus != nil:
		return o.Status + " " + strconv.Itoa(*o.HTTPStatus)
	case o.ExitCode != nil:
		return o.Status + " exit " + strconv.Itoa(*o.ExitCode)
	default:
		return o.Status
	}
}

// sessionPrefix is as much of a session id as a table shows: of a UUIDv7 the
// millisecond and 12 random bits (RFC 9562, section 5.7). It is taken wherever an
// id is.
const sessionPrefix = 18

func sessionColumns(format string) []column[journal.Session] {
	calls := func(of string) func(journal.Session) string {
		return func(s journal.Session) string { return fmt.Sprint(s.Calls[of]) }
	}
	client := column[journal.Session]{"client", func(s journal.Session) string { return s.Client.Name }}
	if format == "csv" {
		return []column[journal.Session]{
			{"session_id", func(s journal.Session) string { return s.SessionID }},
			{"opened", func(s journal.Session) string { return s.Opened.Format(time.RFC3339Nano) }},
			{"closed", func(s journal.Session) string {
				if s.Closed == nil {
					return ""
				}
				return s.Closed.Format(time.RFC3339Nano)
			}},
			client, {"total", calls("total")}, {"ok", calls("ok")}, {"refused", calls("refused")},
		}
	}
	return []column[journal.Session]{
		{"session", func(s journal.Session) string { return s.SessionID[:min(len(s.SessionID), sessionPrefix)] }},
		{"opened", func(s journal.Session) string { return s.Opened.Local().Format("01-02 15:04:05") }},
		{"closed", closed},
		client, {"calls", calls("total")}, {"refused", calls("refused")},
	}
}

func changeColumns(format string) []column[journal.Change] {
	at := func(c journal.Change) string { return c.Time.Local().Format("01-02 15:04:05") }
	if format == "csv" {
		at = func(c journal.Change) string { return c.Time.Format(time.RFC3339Nano) }
	}
	return []column[journal.Change]{
		{"seq", func(c journal.Change) string { return strconv.FormatInt(c.Seq, 10) }},
		{"time", at},
		{"action", func(c journal.Change) string { return c.Action }},
		{"by", func(c journal.Change) string { return c.By }},
		{"detail", func(c journal.Change) string { return string(c.Detail) }},
	}
}

// closed is when a session ended, in the operator's zone.
func closed(s journal.Session) string {
	if s.Closed == nil {
		return "open"
	}
	return s.Closed.Local().Format("01-02 15:04:05")
}
