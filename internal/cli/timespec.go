package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var relative = regexp.MustCompile(`^-(\d{1,6})(s|m|h|d|w)$`)

// parseTime reads a point in time as people write it: RFC 3339, a date with or
// without a time of day in the local zone, an age such as -90m, -1h, -3d or -2w,
// now, today, yesterday, or a weekday (the latest one that has begun). "" is the
// zero time.
func parseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	if m := relative.FindStringSubmatch(s); m != nil {
		return age(m[1], m[2], now), nil
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch word := strings.ToLower(s); word {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	default:
		for back := range 7 {
			day := midnight.AddDate(0, 0, -back)
			if name := strings.ToLower(day.Weekday().String()); word == name || word == name[:3] {
				return day, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: RFC 3339, 2026-01-31, '2026-01-31 15:04', -1h, -3d, today, yesterday or a weekday is due", s)
}

func age(number, unit string, now time.Time) time.Time {
	n, _ := strconv.Atoi(number) // at most six digits
	switch unit {
	case "d":
		return now.AddDate(0, 0, -n)
	case "w":
		return now.AddDate(0, 0, -7*n)
	case "h":
		return now.Add(-time.Duration(n) * time.Hour)
	case "m":
		return now.Add(-time.Duration(n) * time.Minute)
	}
	return now.Add(-time.Duration(n) * time.Second)
}
