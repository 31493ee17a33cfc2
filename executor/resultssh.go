package executor

import (
	"bytes"
	"fmt"
	"io/fs"
	"time"

	"executor/internal/action"
)

// FileResponse is what came of a file operation.
type FileResponse struct {
	// Info describes the file that was read or written.
	Info FileInfo
	// Content is what was read, at most the action's MaxBytes. SHA256 is the digest
	// of the whole file, "" when it was not read whole.
	Content   []byte
	Truncated bool
	SHA256    string
	// Bytes is how much was read or written.
	Bytes int64
	// Replaced: a write took the place of a file.
	Replaced bool
	// Entries are the names of a directory, at most the action's; Total is how many there are.
	Entries  []FileInfo
	Total    int
	Note     string
	Duration time.Duration
	Facts    map[string]any
}

// FileInfo is one file as the server describes it. Name is its last segment.
type FileInfo struct {
	Name     string
	Size     int64
	Mode     fs.FileMode
	Modified time.Time
}

func (*FileResponse) response() {}

func (m *masker) ssh(r *SSHResponse) {
	m.outcome.ExitCode, m.outcome.Bytes = r.Exit, r.Total
	stdout, stderr := m.bytes(r.Stdout, r.StdoutTruncated), m.bytes(r.Stderr, r.StderrTruncated)
	m.outcome.ResponseSHA256 = action.Sum(append(bytes.Clone(stdout), stderr...))
	switch {
	case r.Exit != nil:
		m.result["exit_code"] = *r.Exit
	case r.Signal != "":
		m.result["signal"] = m.text(r.Signal)
	default:
		m.result["outcome"] = "unknown"
	}
	m.output("stdout", stdout, r.StdoutTruncated)
	m.output("stderr", stderr, r.StderrTruncated)
	m.result["truncated"] = r.StdoutTruncated || r.StderrTruncated
	m.result["channel_left_open"], m.result["may_still_run"] = r.ChannelLeftOpen, r.MayStillRun
	m.result["bytes"], m.result["duration_ms"] = r.Total, r.Duration.Milliseconds()
	m.optional("note", r.Note)
	m.facts["may_still_run"], m.facts["channel_left_open"] = r.MayStillRun, r.ChannelLeftOpen
	m.optional("signal", r.Signal)
	m.keep(r.Facts)
}

func (m *masker) file(r *FileResponse) {
	a, ok := m.bound.action.(*action.File)
	if !ok {
		return
	}
	m.result["path"], m.result["duration_ms"] = m.text(a.Path), r.Duration.Milliseconds()
	m.outcome.Bytes = r.Bytes
	switch a.Operation {
	case action.ReadFile:
		m.readFile(r)
	case action.WriteFile:
		m.result["bytes"], m.result["sha256"] = r.Bytes, r.SHA256
		m.result["mode"], m.result["replaced"] = octal(r.Info.Mode), r.Replaced
		m.facts["replaced"] = r.Replaced
	case action.ListDir:
		m.listDir(r)
	}
	m.optional("note", r.Note)
	m.keep(r.Facts)
}

// readFile leaves out the digest of a file in which something was masked: it would
// let a secret that is guessed be checked.
func (m *masker) readFile(r *FileResponse) {
	before := m.redactions
	content := m.bytes(r.Content, r.Truncated)
	m.outcome.ResponseSHA256 = action.Sum(content)
	m.output("content", content, r.Truncated)
	m.result["size"], m.result["mode"] = r.Info.Size, octal(r.Info.Mode)
	m.result["modified"] = stamp(r.Info.Modified)
	m.result["bytes"], m.result["truncated"] = r.Bytes, r.Truncated
	if r.SHA256 != "" && m.redactions == before {
		m.result["sha256"] = r.SHA256
	}
}

func (m *masker) listDir(r *FileResponse) {
	entries := make([]map[string]any, len(r.Entries))
	var all bytes.Buffer
	for i, e := range r.Entries {
		name := m.bytes([]byte(e.Name), false)
		all.Write(append(name, 0))
		one := fields{result: map[string]any{}}
		(&masker{work: m.work, fields: &one}).output("name", name, false)
		one.result["type"], one.result["size"] = fileType(e.Mode), e.Size
		one.result["mode"], one.result["modified"] = octal(e.Mode), stamp(e.Modified)
		entries[i] = one.result
	}
	m.outcome.ResponseSHA256 = action.Sum(all.Bytes())
	m.result["entries"], m.result["total"], m.result["truncated"] = entries, r.Total, r.Total > len(entries)
}

func fileType(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "dir"
	case mode&fs.ModeSymlink != 0:
		return "symlink"
	}
	return "other"
}

func octal(mode fs.FileMode) string { return fmt.Sprintf("%04o", mode.Perm()) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
