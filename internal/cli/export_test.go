package cli

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// What the tests of this package look at from outside.
var (
	ParseTime    = parseTime
	ExitCode     = exitCode
	Hint         = hint
	Usagef       = usagef
	Registration = registration
	ReadLine     = readLine
	ReadHidden   = readHidden
	Fit          = fit
	WriteJSON    = writeJSON
	ErrInterrupt = errInterrupted
)

const MaxSecret = maxSecret

// Silent ends the program with a code.
func Silent(code int) error { return &silent{code} }

// Root is the whole tree of commands.
func Root(sys IO) *cobra.Command { return (&app{IO: sys}).root() }

// Notify runs a notify-command for each id while fn runs, with a limit of its own,
// and returns what the operator was told.
func Notify(sys IO, command string, limit time.Duration, ids []string, fn func()) (told []string, err error) {
	n, err := (&app{IO: sys}).notifier(command, func(line string) { told = append(told, line) })
	if err != nil {
		return nil, err
	}
	n.limit = limit
	err = n.during(sys.Context, func() error {
		for _, id := range ids {
			n.note(id)
		}
		fn()
		return nil
	})
	return told, err
}

// A Row is something to list.
type Row struct {
	Name string `json:"name"`
	N    int64  `json:"n"`
	Text string `json:"text"`
}

// List writes rows in a form, or through a jq expression.
func List(ctx context.Context, w io.Writer, format, jq string, rows []Row) error {
	o := outputFlags{format: format, jq: jq, context: func() context.Context { return ctx }}
	if err := o.check(); err != nil {
		return err
	}
	return writeListing(w, o, rows, rowColumns)
}

// Table writes rows as a terminal of a width shows them.
func Table(w io.Writer, width int, rows []Row) error { return writeTable(w, rows, rowColumns, width) }

var rowColumns = []column[Row]{
	{"name", func(r Row) string { return r.Name }},
	{"some_text", func(r Row) string { return r.Text }},
}

// Leaves shows a JSON value line by line.
var Leaves = leaves

// Facts writes a page about one thing.
func Facts(w io.Writer, pairs ...string) error {
	var facts []fact
	for i := 0; i+1 < len(pairs); i += 2 {
		facts = append(facts, fact{pairs[i], pairs[i+1]})
	}
	return writeFacts(w, facts)
}

// Monday is a Monday noon in a zone that is neither UTC nor the machine's.
var Monday = time.Date(2026, 11, 30, 12, 0, 0, 0, time.FixedZone("east", 3*3600))
