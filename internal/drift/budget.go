package drift

// A budget bounds work by counting steps, not by a clock, so that one input
// has one answer on every machine.
type budget struct{ left int }

func (b *budget) take(n int) { b.left -= n }

func (b *budget) spent() bool { return b.left <= 0 }

// Limits bounds what one schema and one Diff may cost. A zero field means the default.
type Limits struct {
	Depth      int // nesting of subschemas; default 64
	Subschemas int // subschemas in one schema; default 10,000
	Steps      int // steps of comparing one pair of schemas; default 100,000
	TotalSteps int // steps of one Diff; default 5,000,000
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		at    *int
		value int
	}{{&l.Depth, 64}, {&l.Subschemas, 10_000}, {&l.Steps, 100_000}, {&l.TotalSteps, 5_000_000}} {
		if *f.at <= 0 {
			*f.at = f.value
		}
	}
	return l
}
