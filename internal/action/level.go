package action

import (
	"encoding/json"
	"fmt"
)

// A Level says how much of the operator an action needs. Levels are ordered by
// strictness: the zero value, Deny, is the strictest, so that a level that was
// never set denies.
type Level int

// The levels, strictest first.
const (
	Deny     Level = iota // never
	Presence              // every call, with the passphrase
	Call                  // every call
	Session               // once per session and scope
	None                  // nobody is asked
)

var levelNames = [...]string{"deny", "presence", "call", "session", "none"}

// ParseLevel reads the name of a level that a person may set as a floor or a
// default: none, session, call, presence or deny.
func ParseLevel(name string) (Level, error) {
	for l, n := range levelNames {
		if n == name {
			return Level(l), nil
		}
	}
	return Deny, fmt.Errorf("approval level %q is not one of none, session, call, presence, deny", name)
}

// Stricter returns the stricter of two levels.
func Stricter(a, b Level) Level { return min(a, b) }

func (l Level) String() string {
	if l < 0 || int(l) >= len(levelNames) {
		return levelNames[Deny]
	}
	return levelNames[l]
}

// MarshalJSON writes the level's name.
func (l Level) MarshalJSON() ([]byte, error) { return json.Marshal(l.String()) }

// UnmarshalJSON reads a level's name. What it cannot read is an error, and the level is Deny.
func (l *Level) UnmarshalJSON(b []byte) error {
	*l = Deny
	var name string
	if err := json.Unmarshal(b, &name); err != nil {
		return err
	}
	parsed, err := ParseLevel(name)
	*l = parsed
	return err
}
