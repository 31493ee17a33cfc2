package cli_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"executor/internal/cli"
	"executor/internal/term"
)

const hostile = "a\x1b[2J\u202eb\u009b31m\t\"c\",\nd\r=1+1"

var rows = []cli.Row{{Name: "plain", N: 9007199254740993, Text: "x"}, {Name: "hostile", N: 2, Text: hostile}}

func list(t *testing.T, format, jq string, rows []cli.Row) string {
	t.Helper()
	var b bytes.Buffer
	if err := cli.List(context.Background(), &b, format, jq, rows); err != nil {
		t.Fatalf("-o %s --jq %s: %v", format, jq, err)
	}
	return b.String()
}

func TestTableIsSafe(t *testing.T) {
	want := "NAME     SOME TEXT\nplain    x\nhostile  " + term.Safe(hostile) + "\n"
	if got := list(t, "table", "", rows); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := list(t, "table", "", nil); got != "NAME  SOME TEXT\n" {
		t.Errorf("an empty table is %q", got)
	}
}

func TestCSVIsWhole(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(list(t, "csv", "", rows))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"name", "some_text"}, {"plain", "x"}, {"hostile", hostile}}
	if !reflect.DeepEqual(records, want) {
		t.Errorf("got %q, want %q", records, want)
	}
}

// JSON reads back as what went in, and holds nothing that a terminal acts on.
func TestJSONIsWholeAndSafe(t *testing.T) {
	text := list(t, "json", "", rows)
	var got []cli.Row
	if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, rows) {
		t.Errorf("%v: %+v", err, got)
	}
	checkSeen(t, text)
	lines := strings.Split(strings.TrimSuffix(list(t, "jsonl", "", rows), "\n"), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d lines for %d rows", len(lines), len(rows))
	}
	for i, line := range lines {
		var got cli.Row
		if err := json.Unmarshal([]byte(line), &got); err != nil || got != rows[i] {
			t.Errorf("line %d: %v: %+v", i, err, got)
		}
	}
	if got := list(t, "json", "", nil); got != "[]\n" {
		t.Errorf("an empty listing is %q", got)
	}
}

func checkSeen(t *testing.T, text string) {
	t.Helper()
	for _, r := range text {
		if r != '\n' && r != '\\' && term.Safe(string(r)) != string(r) {
			t.Errorf("%q holds U+%04X", text, r)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", hostile, "\U000e0041\U0001f600", "\\u202e", "\xff", "<&>\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		if err := cli.WriteJSON(&b, s); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && got != want {
			t.Errorf("%q reads back as %q", s, got)
		}
		checkSeen(t, b.String())
	})
}

func TestJQ(t *testing.T) {
	for expression, want := range map[string]string{
		".[].name":        "plain\nhostile\n",
		".[0]":            `{"n":9007199254740993,"name":"plain","text":"x"}` + "\n",
		"length":          "2\n",
		".[1].text":       hostile + "\n",
		".[] | select(0)": "",
		"env | length":    "0\n", // the environment is not for expressions
	} {
		if expression == ".[] | select(0)" {
			expression = ".[] | select(false)"
		}
		if got := list(t, "table", expression, rows); got != want {
			t.Errorf("%s gives %q, want %q", expression, got, want)
		}
	}
	if got := list(t, "json", "length", nil); got != "0\n" {
		t.Errorf("the length of nothing is %q", got)
	}
}

func TestOutputUsage(t *testing.T) {
	for _, c := range [][2]string{{"xml", ""}, {"", ""}, {"json", ".["}, {"json", ".a.b"}, {"json", `error("x")`}, {"json", "nosuch"}} {
		var b bytes.Buffer
		err := cli.List(context.Background(), &b, c[0], c[1], rows)
		if cli.ExitCode(err) != 2 || b.Len() > 0 {
			t.Errorf("-o %s --jq %s: %v, and %q was written", c[0], c[1], err, b.String())
		}
	}
}

// An expression without an end can be interrupted.
func TestJQEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var b bytes.Buffer
	if err := cli.List(ctx, &b, "json", "last(repeat(1))", rows); err == nil || ctx.Err() == nil {
		t.Errorf("it ended by itself: %v", err)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		columns []int
		width   int
		want    []int
	}{
		{[]int{3, 100, 5}, 0, []int{3, 100, 5}},
		{[]int{3, 10, 5}, 80, []int{3, 10, 5}},
		{[]int{3, 100, 5}, 80, []int{3, 68, 5}},
		{[]int{40, 60, 5}, 49, []int{20, 20, 5}},
		{[]int{40, 60, 5}, 10, []int{6, 6, 5}},
		{[]int{90}, 80, []int{80}},
	} {
		if got := cli.Fit(c.columns, c.width); !slices.Equal(got, c.want) {
			t.Errorf("Fit(%v, %d) = %v, want %v", c.columns, c.width, got, c.want)
		}
	}
}

func TestTableKeepsTheTerminal(t *testing.T) {
	long := []cli.Row{{Name: "日本語のとても長い名前", Text: "https://api.example.com/" + strings.Repeat("path/", 40)}, {Name: "x", Text: hostile}}
	for width := 14; width < 120; width += 7 {
		var b bytes.Buffer
		if err := cli.Table(&b, width, long); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if term.Width(line) > width {
				t.Errorf("a line of %d columns on a terminal of %d: %s", term.Width(line), width, line)
			}
		}
	}
	if !strings.Contains(list(t, "table", "", long), long[0].Text) {
		t.Error("a table that is piped was cut")
	}
}

func TestFacts(t *testing.T) {
	var b bytes.Buffer
	if err := cli.Facts(&b, "name", "x", "nothing", "", "two lines", "a\nb\x1b"); err != nil {
		t.Fatal(err)
	}
	if want := "name       x\ntwo lines  a\n           b\\x1b\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestLeaves(t *testing.T) {
	const want = "argv: null\ncommand: \"a\\nb\"\nenv[0]: A\nn: 10000000000000000000"
	if got := cli.Leaves([]byte(`{"env":["A",{}],"argv":null,"command":"a\nb","n":10000000000000000000}`)); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
}
