package cli_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"executor/internal/cli"
)

func TestReadHidden(t *testing.T) {
	for typed, want := range map[string]string{
		"secret\r":            "secret",
		"secret\nmore\n":      "secret",
		"secrex\x7ft\r":       "secret",
		"é\x08e\r":            "e",
		"\x7f\x7fa\r":         "a",
		"wrong\x15right\r":    "right",
		"secret\x04":          "secret",
		"a b\t\"'\\\x1b[A\r":  "a b\t\"'\\\x1b[A",
		"\r":                  "",
		"\xff\xfe\x7f\x7fz\r": "z",
	} {
		got, err := cli.ReadHidden(strings.NewReader(typed))
		if err != nil || string(got) != want {
			t.Errorf("%q is read as %q, %v; want %q", typed, got, err, want)
		}
	}
	for typed, want := range map[string]error{
		"sec\x03ret\r": cli.ErrInterrupt,
		"secret":       io.EOF,
		"":             io.EOF,
	} {
		if got, err := cli.ReadHidden(strings.NewReader(typed)); !errors.Is(err, want) || got != nil {
			t.Errorf("%q is read as %q, %v; want %v", typed, got, err, want)
		}
	}
	whole := strings.Repeat("x", cli.MaxSecret)
	if got, err := cli.ReadHidden(strings.NewReader(whole + "\r")); err != nil || string(got) != whole {
		t.Errorf("%d bytes: %v", len(got), err)
	}
	if _, err := cli.ReadHidden(strings.NewReader(whole + "x\r")); err == nil {
		t.Error("more than a secret's room was taken")
	}
}

func TestReadLine(t *testing.T) {
	r := strings.NewReader(" yes \r\nnext\ncut")
	for _, want := range []string{"yes", "next"} {
		if got, err := cli.ReadLine(r); got != want || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	if got, err := cli.ReadLine(r); got != "" || !errors.Is(err, io.EOF) {
		t.Errorf("a line that was cut short gives %q, %v", got, err)
	}
}
