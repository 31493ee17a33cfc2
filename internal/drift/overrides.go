package drift

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// ErrOverrides is the error of an overrides file that says something else than
// it may: an unknown field or rule, no reason, no date.
var ErrOverrides = errors.New("bad overrides file")

// MaxOverridesBytes is the most that ParseOverrides reads.
const MaxOverridesBytes = 1 << 20

// Overrides is what the people of one repository decided about findings. The
// zero value changes nothing.
type Overrides struct {
	// Severity gives changes another class.
	Severity []Override `yaml:"severity" json:"severity,omitempty"`
	// Ignore takes changes out of the verdict; they stay in the report, marked.
	Ignore []Override `yaml:"ignore" json:"ignore,omitempty"`
}

// An Override names changes by rule and path.
type Override struct {
	Rule string `yaml:"rule" json:"rule"`
	// Path is a glob: * stands for anything but a point, ** for anything. Empty is every path.
	Path string `yaml:"path" json:"path,omitempty"`
	// Class is for Severity only.
	Class Class `yaml:"class" json:"class,omitempty"`
	// Until is the last day, YYYY-MM-DD, on which it holds. Ignore needs one.
	Until string `yaml:"until" json:"until,omitempty"`
	// Reason is for whoever reads the file later. It must not be empty.
	Reason string `yaml:"reason" json:"reason"`
}

// ParseOverrides reads YAML or JSON. Unknown and duplicate fields are errors,
// which match ErrOverrides.
func ParseOverrides(raw []byte) (Overrides, error) {
	var o Overrides
	if len(raw) > MaxOverridesBytes {
		return Overrides{}, fmt.Errorf("%w: %d bytes, at most %d", ErrOverrides, len(raw), MaxOverridesBytes)
	}
	if strings.TrimSpace(string(raw)) == "" {
		return o, nil
	}
	if err := yaml.UnmarshalWithOptions(raw, &o, yaml.Strict()); err != nil {
		return Overrides{}, fmt.Errorf("%w: %s", ErrOverrides, yaml.FormatError(err, false, false))
	}
	for i, s := range o.Severity {
		if s.Class != Compatible && s.Class != NeedsHuman && s.Class != Breaking {
			return Overrides{}, fmt.Errorf("%w: severity %d: class %q is none of compatible, needs-human, breaking", ErrOverrides, i+1, s.Class)
		}
		if err := s.check(); err != nil {
			return Overrides{}, fmt.Errorf("%w: severity %d: %w", ErrOverrides, i+1, err)
		}
	}
	for i, s := range o.Ignore {
		if s.Until == "" || s.Class != "" {
			return Overrides{}, fmt.Errorf("%w: ignore %d: it needs a date in until, and no class", ErrOverrides, i+1)
		}
		if err := s.check(); err != nil {
			return Overrides{}, fmt.Errorf("%w: ignore %d: %w", ErrOverrides, i+1, err)
		}
	}
	return o, nil
}

func (o Override) check() error {
	if !slices.Contains(Rules(), o.Rule) {
		return fmt.Errorf("unknown rule %q", o.Rule)
	}
	if strings.TrimSpace(o.Reason) == "" {
		return errors.New("a reason is missing")
	}
	if o.Until == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, o.Until); err != nil {
		return fmt.Errorf("until %q is not a date like 2027-01-31", o.Until)
	}
	return nil
}

// Apply judges a report again under the overrides. now decides, by its own
// calendar day, what has expired; an expired ignore ignores nothing and says so.
func (o Overrides) Apply(r Report, now time.Time) Report {
	changes := slices.Clone(r.Changes)
	for i := range changes {
		for _, s := range o.Severity {
			if s.names(changes[i]) && !s.expired(now) && s.Class != changes[i].Class {
				changes[i].Overridden, changes[i].Class = changes[i].Class, s.Class
				changes[i].Reason = joinReason(changes[i].Reason, s.Reason)
				break
			}
		}
		o.ignore(&changes[i], now)
	}
	return finish(changes)
}

func (o Overrides) ignore(c *Change, now time.Time) {
	for _, s := range o.Ignore {
		if !s.names(*c) {
			continue
		}
		if s.expired(now) {
			c.IgnoreExpired = s.Until
			continue
		}
		c.Ignored, c.IgnoreReason, c.IgnoreExpired = true, s.Reason, ""
		return
	}
}

func joinReason(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// expired: no date is no end; a date that does not parse has passed.
func (o Override) expired(now time.Time) bool {
	if o.Until == "" {
		return false
	}
	day, err := time.ParseInLocation(time.DateOnly, o.Until, now.Location())
	return err != nil || !now.Before(day.AddDate(0, 0, 1))
}

func (o Override) names(c Change) bool {
	return o.Rule == c.Rule && (o.Path == "" || glob(o.Path, c.Path))
}

func glob(pattern, path string) bool {
	var re strings.Builder
	re.WriteString(`\A(?s:`)
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "**"):
			re.WriteString(`.*`)
			i++
		case pattern[i] == '*':
			re.WriteString(`[^.]*`)
		default:
			re.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	compiled, err := regexp.Compile(re.String() + `)\z`)
	return err == nil && compiled.MatchString(path)
}
