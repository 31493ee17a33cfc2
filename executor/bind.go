package executor

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"executor/internal/action"
	"executor/internal/contract"
	"executor/internal/policy"
	"executor/internal/target"
)

// maxRedirects is how many redirects a read may follow inside its binding.
const maxRedirects = 5

// userAgent is what HTTP servers see unless the caller names its own.
const userAgent = "executor"

// A bound is a draft with its target and credential: the action, the level that
// is due, and the items of the vault that took part.
type bound struct {
	action action.Action
	// usual is the level where no rule applies: by effect, or the contract's own.
	usual action.Level
	// floor is the strictest level of the credentials and hosts that match, and of
	// the contract, if it has one of its own: a rule does not go below it.
	floor action.Level
	items []policy.Ref
	// covers is what a session yes covers where no rule applies, "" for this very
	// action alone.
	covers string

	// The rest is what judged makes of it.
	ruling policy.Ruling
	level  action.Level
	// rule is the one that the level comes from, or nil.
	rule *policy.Rule
	// scope is what a session yes would cover, in words; "" where there is no such
	// yes. exact: this action alone.
	scope string
	exact bool
}

// bindBoth binds what a call means under the current contract. Where it was built
// on another one, what it means there is bound too: the two must be one and the
// same action, and the stricter levels count.
func bindBoth(g *policy.Generation, r contract.Resolution) (bound, error) {
	b, err := bind(g, r.Draft, r.Current)
	if err != nil || r.Old == nil {
		return b, err
	}
	old, err := bind(g, r.Old, r.Contract)
	if err != nil {
		return bound{}, r.Mismatch()
	}
	now, err := action.Digest(b.action)
	if err != nil {
		return bound{}, err
	}
	then, err := action.Digest(old.action)
	if err != nil {
		return bound{}, err
	}
	if now != then {
		return bound{}, r.Mismatch()
	}
	b.usual = action.Stricter(b.usual, old.usual)
	b.floor = action.Stricter(b.floor, old.floor)
	return b, nil
}

// bind normalizes a draft and binds it by one policy generation. It is pure: the
// same draft, generation and contract give the same action. The contract's own
// level, if it has one, replaces the default by effect.
func bind(g *policy.Generation, d contract.Draft, c *contract.Contract) (bound, error) {
	b, err := bindDraft(g, d)
	if err != nil {
		return bound{}, err
	}
	b.usual = policy.DefaultLevel(b.action)
	if own, ok := c.Approval(); ok {
		b.usual, b.floor = own, action.Stricter(b.floor, own)
	}
	return b, nil
}

func bindDraft(g *policy.Generation, d contract.Draft) (bound, error) {
	switch d := d.(type) {
	case *contract.HTTPDraft:
		return bindHTTP(g, d)
	case *contract.SSHDraft:
		return bindSSH(g, d)
	case *contract.SSHFileDraft:
		return bindFile(g, d)
	case *contract.TargetsDraft:
		return bound{action: &action.Targets{}, floor: action.None}, nil
	}
	return bound{}, fmt.Errorf("no way to bind a draft of type %T", d)
}

func bindHTTP(g *policy.Generation, d *contract.HTTPDraft) (bound, error) {
	u, err := parseURL(d)
	if err != nil {
		return bound{}, err
	}
	b, err := g.BindURL(u, d.Credential)
	if err != nil {
		return bound{}, notBound(err, u.Origin())
	}
	if err := checkAddress(u, b); err != nil {
		return bound{}, err
	}
	if err := occupied(u, b.Credential); err != nil {
		return bound{}, err
	}
	headers, err := finalHeaders(d, b.Credential)
	if err != nil {
		return bound{}, err
	}
	a := &action.HTTP{
		Method: d.Method, URL: u.String(), Origin: u.Origin(), Headers: headers, Body: action.Blob{Bytes: d.Body},
		Binding: b.Pattern, Address: action.Address{Private: b.Credential != nil},
		Limits: action.Limits{Timeout: d.Timeout, MaxBytes: d.MaxBytes},
	}
	if b.Credential != nil {
		a.Credential = b.Credential.Ref()
		a.TLS, a.Cookies = b.Credential.TLS(), b.Credential.AllowSetCookie
	}
	return bound{action: a, items: b.Items, floor: b.Floor, covers: httpScope(a)}, nil
}

// httpScope is what a session yes to a covers.
func httpScope(a *action.HTTP) string {
	methods := a.Method
	if policy.SafeMethod(a.Method) {
		methods = "GET, HEAD and OPTIONS"
	}
	if a.Credential == nil {
		return methods + " to " + a.Origin + " without a credential"
	}
	return fmt.Sprintf("%s under %s with credential %s version %d", methods, a.Binding, a.Credential.Name, a.Credential.Version)
}

func parseURL(d *contract.HTTPDraft) (target.URL, error) {
	u, err := target.Parse(d.URL)
	switch {
	case errors.Is(err, target.ErrNever):
		return target.URL{}, refusal(TargetBlocked, "the target is blocked: "+err.Error())
	case err != nil:
		return target.URL{}, action.Problems{{Path: "/url", Problem: err.Error()}}
	}
	return u.AddQuery(d.Query), nil
}

func notBound(err error, where string) error {
	if errors.Is(err, policy.ErrNotBound) {
		return &Refusal{Code: CredentialNotBound, Message: err.Error() + ": " + where + ". list_targets shows where each credential applies", Cause: err}
	}
	return err
}

// checkAddress judges an address that is spelled out in the URL. Names are judged
// by the runner, after the intent, when they are resolved.
func checkAddress(u target.URL, b policy.Binding) error {
	v, literal := u.Judge()
	switch {
	case !literal || v.Class() == target.Public:
		return nil
	case v.Class() == target.Private && b.Credential != nil:
		return nil
	case v.Class() == target.Private:
		return refusal(TargetBlocked, fmt.Sprintf("%s is %s; such targets are reached only where the operator bound a credential to them", u.Host(), v.Why()))
	}
	return refusal(TargetBlocked, fmt.Sprintf("the target is blocked: %s is %s", u.Host(), v.Why()))
}

// finalHeaders adds what is sent besides the caller's headers, sorted by name.
func finalHeaders(d *contract.HTTPDraft, c *policy.Credential) ([]action.Header, error) {
	out := slices.Clone(d.Headers)
	for _, h := range out {
		if c != nil && c.Occupies(h.Name) {
			return nil, action.Problems{{Path: "/headers/" + h.Name, Problem: "this header carries the credential; leave it out"}}
		}
	}
	if d.IdempotencyKey != "" {
		name := textproto.CanonicalMIMEHeaderKey(c.IdempotencyName())
		if hasHeader(out, name) {
			return nil, action.Problems{{Path: "/headers/" + name, Problem: "this header carries idempotency_key; give one of the two"}}
		}
		out = append(out, action.Header{Name: name, Value: d.IdempotencyKey})
	}
	add := func(name, value string) {
		if !hasHeader(out, name) {
			out = append(out, action.Header{Name: name, Value: value})
		}
	}
	add("Accept", "*/*")
	add("User-Agent", userAgent)
	if d.ContentType != "" {
		add("Content-Type", d.ContentType)
	}
	slices.SortFunc(out, func(a, b action.Header) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func hasHeader(headers []action.Header, name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	return slices.ContainsFunc(headers, func(h action.Header) bool { return h.Name == name })
}
