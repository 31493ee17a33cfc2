package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"executor/internal/term"

	"github.com/itchyny/gojq"
	"github.com/spf13/cobra"
)

// outputFlags choose the form of a listing, or of one thing.
type outputFlags struct {
	forms  []string // nil: listForms
	format string
	jq     string
	// context ends a jq expression that does not end by itself.
	context func() context.Context
}

// Forms of a listing and of one thing.
var (
	listForms = []string{"table", "json", "jsonl", "csv"}
	oneForms  = []string{"table", "json", "jsonl"}
)

func (o *outputFlags) register(cmd *cobra.Command) { o.registerForms(cmd, listForms) }

// registerOne is register for a command that shows one thing.
func (o *outputFlags) registerOne(cmd *cobra.Command) { o.registerForms(cmd, oneForms) }

func (o *outputFlags) registerForms(cmd *cobra.Command, forms []string) {
	o.forms = forms
	cmd.Flags().StringVarP(&o.format, "output", "o", "table", "`FORM` of the output: "+alternatives(forms))
	cmd.Flags().StringVar(&o.jq, "jq", "", "filter what -o json would give with the jq expression `EXPR`")
	o.context = cmd.Context
}

func (o *outputFlags) check() error {
	forms := o.forms
	if forms == nil {
		forms = listForms
	}
	if !slices.Contains(forms, o.format) {
		return usagef("-o %s: %s is due", o.format, alternatives(forms))
	}
	if o.jq != "" {
		if _, err := gojq.Parse(o.jq); err != nil {
			return usagef("--jq: %v", err)
		}
	}
	return nil
}

// alternatives writes words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// A column is one column of a table and of CSV.
type column[T any] struct {
	name string
	cell func(T) string
}

// writeListing writes items in the form that was chosen. In a table foreign text
// is made safe to show; the other forms carry it whole, quoted by their rules.
func writeListing[T any](w io.Writer, o outputFlags, items []T, columns []column[T]) error {
	switch {
	case o.jq != "":
		return writeJQ(w, o, nonNil(items))
	case o.format == "json":
		return writeJSON(w, nonNil(items))
	case o.format == "jsonl":
		for _, it := range items {
			if err := writeLine(w, it); err != nil {
				return err
			}
		}
		return nil
	case o.format == "csv":
		return writeCSV(w, items, columns)
	}
	return writeTable(w, items, columns, terminalWidth(w))
}

func nonNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func writeCSV[T any](w io.Writer, items []T, columns []column[T]) error {
	out := csv.NewWriter(w)
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	if err := out.Write(names); err != nil {
		return err
	}
	for _, it := range items {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = forTerminal(w, c.cell(it))
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeTable writes a table. With a width above 0 the widest cells are cut to keep it.
func writeTable[T any](w io.Writer, items []T, columns []column[T], width int) error {
	rows := [][]string{make([]string, len(columns))}
	for i, c := range columns {
		rows[0][i] = strings.ToUpper(strings.ReplaceAll(c.name, "_", " "))
	}
	for _, it := range items {
		row := make([]string, len(columns))
		for i, c := range columns {
			row[i] = term.Safe(c.cell(it))
		}
		rows = append(rows, row)
	}
	room := fit(widths(rows), width)
	for n, row := range rows {
		cells := pad(row, room)
		if l, ok := w.(*listing); ok && n > 0 {
			for i, c := range columns {
				cells[i] = l.paint(c.name, row[i], cells[i])
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, ""), " ")); err != nil {
			return err
		}
	}
	return nil
}

func widths(rows [][]string) []int {
	out := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			out[i] = max(out[i], term.Width(cell))
		}
	}
	return out
}

// columnGap is the space between two columns, and minColumn what is left of one
// at least.
const columnGap, minColumn = 2, 6

// fit takes from the widest columns what a table has too much for width; 0 is no bound.
func fit(columns []int, width int) []int {
	out := slices.Clone(columns)
	over := columnGap*(len(out)-1) - width
	for _, n := range out {
		over += n
	}
	for ; width > 0 && over > 0; over-- {
		widest := slices.Index(out, slices.Max(out))
		if out[widest] <= minColumn {
			break
		}
		out[widest]--
	}
	return out
}

// pad cuts each cell to its column and fills it up to the next.
func pad(row []string, widths []int) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		cell = term.Truncate(cell, widths[i])
		out[i] = cell + strings.Repeat(" ", widths[i]-term.Width(cell)+columnGap)
	}
	return out
}
