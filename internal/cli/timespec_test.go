package cli_test

import (
	"testing"
	"time"

	"executor/internal/cli"
)

func TestParseTime(t *testing.T) {
	now := cli.Monday // 2026-11-30T12:00:00+03:00
	for text, want := range map[string]string{
		"2026-11-29T08:00:00Z":        "2026-11-29T08:00:00Z",
		"2026-11-29T08:00:00.5+01:00": "2026-11-29T08:00:00.5+01:00",
		"2026-11-29 08:00:01":         "2026-11-29T08:00:01+03:00",
		"2026-11-29T08:00:01":         "2026-11-29T08:00:01+03:00",
		"2026-11-29 08:00":            "2026-11-29T08:00:00+03:00",
		"2026-11-29T08:00":            "2026-11-29T08:00:00+03:00",
		"2026-11-29":                  "2026-11-29T00:00:00+03:00",
		"2024-02-29":                  "2024-02-29T00:00:00+03:00",
		"now":                         "2026-11-30T12:00:00+03:00",
		"today":                       "2026-11-30T00:00:00+03:00",
		"Yesterday":                   "2026-11-29T00:00:00+03:00",
		"monday":                      "2026-11-30T00:00:00+03:00",
		"Mon":                         "2026-11-30T00:00:00+03:00",
		"sunday":                      "2026-11-29T00:00:00+03:00",
		"tue":                         "2026-11-24T00:00:00+03:00",
		"-90s":                        "2026-11-30T11:58:30+03:00",
		"-90m":                        "2026-11-30T10:30:00+03:00",
		"-1h":                         "2026-11-30T11:00:00+03:00",
		"-3d":                         "2026-11-27T12:00:00+03:00",
		"-2w":                         "2026-11-16T12:00:00+03:00",
	} {
		got, err := cli.ParseTime(text, now)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if at, err := time.Parse(time.RFC3339Nano, want); err != nil || !got.Equal(at) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	if got, err := cli.ParseTime("", now); err != nil || !got.IsZero() {
		t.Errorf("nothing is %s, %v", got, err)
	}
	for _, text := range []string{"garbage", "tomorrow", "2026-13-01", "2026-02-29", "2026-11-29 25:00", "-", "-1", "-1y", "1h", "--1h", "-1234567d", "-1.5h", " today", "mond", "m", "12:00", "-1h\x1b[31m"} {
		if got, err := cli.ParseTime(text, now); err == nil {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"", "-1h", "2026-11-29", "monday", "2026-11-29T08:00:00Z", "-999999w", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := cli.ParseTime(s, cli.Monday)
		if err == nil && got.IsZero() && s != "" && got.Year() != 1 {
			t.Errorf("%q is the zero time", s)
		}
		if err != nil && !got.IsZero() {
			t.Errorf("%q gives %s and %v", s, got, err)
		}
	})
}
