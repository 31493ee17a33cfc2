package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"executor/internal/action"
	"executor/internal/strictjson"

	"github.com/goccy/go-yaml"
)

// A File is the operator's own description of a tool at one revision, as it is
// written in YAML or JSON and sealed in the vault.
//
//	tool: deploy_preview
//	revision: 2
//	description: Deploy a branch to a preview environment.
//	input:
//	  type: object
//	  properties:
//	    branch: {type: string, minLength: 1}
//	    region: {type: string, enum: [us-east-preview, eu-preview]}
//	  required: [branch, region]
//	  additionalProperties: false
//	http:
//	  method: POST
//	  url: https://ci.example.com/v1/previews
//	  json: {branch: {$arg: branch}, region: {$arg: region}}
//	  credential: ci
//	accepts:
//	  - {revision: 1, change: migration, until: 2027-01-31, adapt: [{default: {region: us-east-preview}}]}
type File struct {
	Tool        string          `json:"tool"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description"`
	Annotations *Hints          `json:"annotations,omitempty"`
	Revision    int             `json:"revision"`
	Input       json.RawMessage `json:"input"`
	HTTP        *HTTPTemplate   `json:"http,omitempty"`
	SSH         *SSHTemplate    `json:"ssh,omitempty"`
	Result      *ResultMapping  `json:"result,omitempty"`
	// Approval replaces the default by effect.
	Approval *action.Level `json:"approval,omitempty"`
	// Declare puts the required argument contract_revision into the served schema.
	Declare bool     `json:"declare_revision,omitempty"`
	Accepts []Accept `json:"accepts,omitempty"`
}

// Hints are annotations as a file gives them; what is absent takes the
// protocol's default (MCP, ToolAnnotations).
type Hints struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// Published is what a contract of an operator's own tool promises beyond its schemas.
type Published struct {
	HTTP     *HTTPTemplate  `json:"http,omitempty"`
	SSH      *SSHTemplate   `json:"ssh,omitempty"`
	Result   *ResultMapping `json:"result,omitempty"`
	Approval *action.Level  `json:"approval,omitempty"`
	Declare  bool           `json:"declare_revision,omitempty"`
}

// Kinds of change between two revisions.
const (
	Additive  = "additive"  // every old call stays valid and means the same
	Migration = "migration" // old calls are adapted by declared steps, inside a window
	Fence     = "fence"     // authority or meaning changed: old calls are refused
	Removal   = "removal"   // the tool is gone
)

// An Accept says what becomes of calls that were built on an earlier revision.
type Accept struct {
	Revision int    `json:"revision"`
	Change   string `json:"change"`
	// Until is the last day of the window, YYYY-MM-DD in UTC.
	Until string `json:"until,omitempty"`
	// Sessions admits only sessions that were opened before the publish.
	Sessions bool `json:"sessions,omitempty"`
	// Adapt leads from Revision to the next one.
	Adapt []Step `json:"adapt,omitempty"`
}

// A Step is one change of the arguments; exactly one field is set.
type Step struct {
	// Default gives a constant to an argument that is absent.
	Default map[string]json.RawMessage `json:"default,omitempty"`
	// Rename moves arguments: old name to new name.
	Rename map[string]string `json:"rename,omitempty"`
	// Map replaces values, by argument, old value (as a string) to new one.
	Map map[string]map[string]json.RawMessage `json:"map,omitempty"`
}

// MaxFile is the longest contract file, in bytes.
const MaxFile = 1 << 20

// ParseFile reads a contract file, YAML or JSON, strictly: unknown keys and
// duplicates are refused by name. It does not judge the contract; New does.
func ParseFile(raw []byte) (*File, error) {
	if len(raw) > MaxFile {
		return nil, fmt.Errorf("the contract file has %d bytes; %d are allowed", len(raw), MaxFile)
	}
	asJSON, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("contract file: %s", yaml.FormatError(err, false, false))
	}
	var f File
	if err := strictjson.Decode(unescape(asJSON), &f); err != nil {
		return nil, fmt.Errorf("contract file: %w", err)
	}
	return &f, nil
}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// check refuses a file whose parts contradict each other.
func (f *File) check() error {
	switch {
	case !toolName.MatchString(f.Tool):
		return fmt.Errorf("tool %q: a name has 1 to 63 characters from a-z, 0-9 and '_', and begins with a letter", f.Tool)
	case f.Revision < 1:
		return errors.New("revision: a whole number from 1 up is due")
	case strings.TrimSpace(f.Description) == "":
		return errors.New("description: say what the tool does; a model chooses by it")
	case (f.HTTP == nil) == (f.SSH == nil):
		return errors.New("exactly one of http and ssh is due")
	case f.Approval != nil && *f.Approval == action.Deny:
		return errors.New("approval: none, session, call or presence is due; to end a tool: executor tool retire")
	}
	seen := map[int]bool{}
	for i, a := range f.Accepts {
		if err := a.check(f.Revision); err != nil {
			return fmt.Errorf("accepts, entry %d: %w", i+1, err)
		}
		if seen[a.Revision] {
			return fmt.Errorf("accepts, entry %d: revision %d is named twice", i+1, a.Revision)
		}
		seen[a.Revision] = true
	}
	return nil
}

func (a Accept) check(revision int) error {
	if a.Revision < 1 || a.Revision >= revision {
		return fmt.Errorf("revision %d is not an earlier one", a.Revision)
	}
	if a.Until != "" {
		if _, err := time.Parse(time.DateOnly, a.Until); err != nil {
			return fmt.Errorf("until %q: a day as YYYY-MM-DD is due", a.Until)
		}
	}
	switch a.Change {
	case Additive:
		if len(a.Adapt) > 0 {
			return errors.New("an additive change has nothing to adapt; say migration")
		}
	case Migration:
		if a.Until == "" {
			return errors.New("a migration has a window: say until when, as YYYY-MM-DD (with sessions: true too)")
		}
	case Fence:
		if len(a.Adapt) > 0 || a.Until != "" || a.Sessions {
			return errors.New("a fence refuses older calls: it has no adapt, until or sessions")
		}
	default:
		return fmt.Errorf("change %q: additive, migration or fence is due", a.Change)
	}
	for i, s := range a.Adapt {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Step) check() error {
	n := 0
	for _, set := range []bool{s.Default != nil, s.Rename != nil, s.Map != nil} {
		if set {
			n++
		}
	}
	if n != 1 {
		return errors.New("exactly one of default, rename and map is due")
	}
	for name, value := range s.Default {
		if string(value) == "null" {
			return fmt.Errorf("default %s: null is no value; a default is a constant", name)
		}
	}
	return nil
}

// New makes the contract that a file describes.
func New(f *File) (*Contract, error) {
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Tool, err)
	}
	if err := f.exactNumbers(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Tool, err)
	}
	c := &Contract{
		Tool: f.Tool, Revision: f.Revision, Title: f.Title, Description: f.Description,
		Annotations: f.annotations(), Input: f.Input, Renderer: "template",
		Published: &Published{HTTP: f.HTTP, SSH: f.SSH, Result: f.Result, Approval: f.Approval, Declare: f.Declare},
	}
	input, err := compileInput(f.Input)
	if err != nil {
		return nil, fmt.Errorf("%s: input: %w", f.Tool, err)
	}
	t, err := compileTemplate(f, input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Tool, err)
	}
	c.render = func(args json.RawMessage) (Draft, error) { return renderTemplate(input, t, args) }
	if err := c.compileResult(f); err != nil {
		return nil, fmt.Errorf("%s: result: %w", f.Tool, err)
	}
	return c, c.seal()
}

func (f *File) annotations() Annotations {
	a := Annotations{Destructive: true, OpenWorld: true}
	if h := f.Annotations; h != nil {
		for _, x := range []struct {
			from *bool
			to   *bool
		}{{h.ReadOnly, &a.ReadOnly}, {h.Destructive, &a.Destructive}, {h.Idempotent, &a.Idempotent}, {h.OpenWorld, &a.OpenWorld}} {
			if x.from != nil {
				*x.to = *x.from
			}
		}
	}
	return a
}
