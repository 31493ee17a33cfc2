package executor

import (
	"fmt"
	"strconv"

	"executor/approval"
	"executor/internal/action"
)

func sshFields(a *action.SSH) []approval.Field {
	f := []approval.Field{{Label: "command", Text: a.Command}}
	if a.Argv != nil {
		f = append(f, approval.Field{Label: "quoted from", Text: strconv.Itoa(len(a.Argv)) + " arguments, for a POSIX shell"})
	}
	f = append(f, routeFields(a.Host, a.Hops)...)
	for _, e := range a.Env {
		f = append(f, approval.Field{Label: "environment", Text: e.Name + "=" + e.Value})
	}
	f = append(f, blobFields("standard input", a.Stdin)...)
	return append(f, approval.Field{Label: "limits", Text: fmt.Sprintf("%s, then signalled and closed; output up to %d bytes", a.Limits.Timeout, a.Limits.MaxBytes)})
}

// routeFields show the destination and, in the order of the way, the jump hosts
// before it.
func routeFields(host string, hops []action.Hop) []approval.Field {
	var f []approval.Field
	for i, h := range hops {
		label, text := "by way of", fmt.Sprintf("%s@%s", h.User, h.Address)
		if i == len(hops)-1 {
			label, text = "host", fmt.Sprintf("%s (%s)", host, text)
		}
		f = append(f, approval.Field{Label: label, Text: text},
			approval.Field{Label: "credential", Text: credentialText(h.Credential)})
	}
	return f
}

// markerFields show what a command is sent besides the action: the mark by which
// its processes are found.
func (w *work) markerFields() []approval.Field {
	if _, ok := w.bound.action.(*action.SSH); !ok {
		return nil
	}
	return []approval.Field{{Label: "mark", Text: action.MarkerName + "=" + w.record.ActivityID + ", if allowed"}}
}

func fileFields(a *action.File) []approval.Field {
	f := []approval.Field{{Label: a.Operation, Text: a.Path}}
	f = append(f, routeFields(a.Host, a.Hops)...)
	switch {
	case a.Operation == action.ListDir:
		return append(f, approval.Field{Label: "limits", Text: fmt.Sprintf("%s, up to %d names", a.Limits.Timeout, a.Entries)})
	case a.Reads():
		return append(f, approval.Field{Label: "limits", Text: fmt.Sprintf("%s, up to %d bytes", a.Limits.Timeout, a.Limits.MaxBytes)})
	}
	f = append(f, approval.Field{Label: "what is there", Text: replaceText(a)}, approval.Field{Label: "mode", Text: modeText(a)})
	if len(a.Content.Bytes) == 0 {
		f = append(f, approval.Field{Label: "content", Text: "empty"})
	}
	f = append(f, blobFields("content", a.Content)...)
	return append(f, approval.Field{Label: "limits", Text: a.Limits.Timeout.String()})
}

func replaceText(a *action.File) string {
	if a.Overwrite {
		return "is REPLACED, if it is a file with " + a.Expected
	}
	return "stays: if anything is there, nothing is written"
}

func modeText(a *action.File) string {
	if a.Mode == "" {
		return "that of the file which is replaced"
	}
	return a.Mode
}
