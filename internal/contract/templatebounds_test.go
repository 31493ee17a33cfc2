package contract_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/contract"
)

func compiled(t testing.TB, yaml string) *contract.Contract {
	t.Helper()
	c, err := contract.New(file(t, yaml))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A header's constant part is judged when the file is read: a call has no part in it.
func TestAHeaderThatCouldNeverBeSentIsRefused(t *testing.T) {
	for _, value := range []string{`"a\nb"`, `"{branch} a\nb"`} {
		y := strings.Replace(deploy1, "credential: ci", "credential: ci, headers: {X-Source: "+value+"}", 1)
		if _, err := contract.New(file(t, y)); err == nil {
			t.Errorf("the header value %s was taken", value)
		}
	}
}

// What is sealed in the vault was JSON-encoded on the way: it must render the very
// bytes that the file rendered when it was checked.
func TestASealedContractRendersTheBytesOfItsFile(t *testing.T) {
	y := strings.NewReplacer(
		"region: us}", `region: "<us>&co", path: "C:\\u003c", "a<b": {deep: ["<"]}, label: {$arg: label}}`,
		"minLength: 1}}", `minLength: 1}, label: {type: string, default: "<none>"}}`,
	).Replace(deploy1)
	f := file(t, y)
	raw, err := json.Marshal(contract.Op{Op: contract.OpPublish, At: day("2026-12-01"), File: f, Kind: contract.Additive})
	if err != nil {
		t.Fatal(err)
	}
	op, err := contract.DecodeOp(raw)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := contract.New(op.File)
	if err != nil {
		t.Fatal(err)
	}
	fresh := compiled(t, y)
	args := json.RawMessage(`{"branch":"main"}`)
	a, errA := fresh.Render(args)
	b, errB := sealed.Render(args)
	if errA != nil || errB != nil || fresh.Digest() != sealed.Digest() {
		t.Fatalf("%v, %v, digests %s and %s", errA, errB, fresh.Digest(), sealed.Digest())
	}
	if body(t, a) != body(t, b) {
		t.Errorf("the file renders %s, what was sealed %s", body(t, a), body(t, b))
	}
}

// A constant that an adapter puts in is spelled as the template's own would be.
func TestASealedAdapterRendersTheBytesOfItsFile(t *testing.T) {
	y := strings.NewReplacer("enum: [us, eu]", `enum: ["<us>", eu]`, "default: {region: us}", `default: {region: "<us>"}`).Replace(deploy2)
	var ops []contract.Op
	for _, f := range []*contract.File{file(t, strings.Replace(deploy1, "region: us}", `region: "<us>"}`, 1)), file(t, y)} {
		raw, err := json.Marshal(contract.Op{Op: contract.OpPublish, At: day("2026-12-01"), File: f, Kind: contract.Migration})
		if err != nil {
			t.Fatal(err)
		}
		op, err := contract.DecodeOp(raw)
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	tool, err := contract.Replay("deploy", ops)
	if err != nil {
		t.Fatal(err)
	}
	r, err := snapshot(t, tool).Resolve("deploy", json.RawMessage(`{"branch":"main"}`), contract.Origin{Now: day("2026-12-24")})
	if err != nil || body(t, r.Draft) != body(t, r.Old) || !strings.Contains(body(t, r.Draft), `"<us>"`) {
		t.Errorf("%v: old %s, new %s", err, body(t, r.Old), body(t, r.Draft))
	}
}

const fetch = `
tool: fetch
description: Read or end one item.
revision: 1
input: {type: object, properties: {id: {type: string}, more: {type: string}, list: {type: array, items: {type: string}}}, required: [id], additionalProperties: false}
http: {method: DELETE, url: "https://ci.example.com/v1/items/{id}{/more}{?list*}", credential: ci}
`

// An argument fills its path segment and no more: not none of it either, since
// /items/ is the whole collection.
func TestAPathSegmentIsNeverEmptyNorLeft(t *testing.T) {
	c := compiled(t, fetch)
	for args, want := range map[string]string{
		`{"id":"7"}`:                         "https://ci.example.com/v1/items/7",
		`{"id":"7","more":"x"}`:              "https://ci.example.com/v1/items/7/x",
		`{"id":"a/b?c#d%2e&e"}`:              "https://ci.example.com/v1/items/a%2Fb%3Fc%23d%252e%26e",
		`{"id":"7","list":["a&b=c","","d"]}`: "https://ci.example.com/v1/items/7?list=a%26b%3Dc&list=&list=d",
		`{"id":""}`:                          "/id",
		`{"id":"7","more":""}`:               "/more",
	} {
		d, err := c.Render(json.RawMessage(args))
		var problems action.Problems
		switch {
		case errors.As(err, &problems) && len(problems) == 1 && problems[0].Path == want:
		case err == nil && d.(*contract.HTTPDraft).URL == want:
		default:
			t.Errorf("%s: %+v, %v; want %s", args, d, err, want)
		}
	}
}

// An argument that may be absent has no plain place in a path.
func TestAPathSegmentWantsARequiredArgument(t *testing.T) {
	y := strings.Replace(fetch, "required: [id]", "required: []", 1)
	if _, err := contract.New(file(t, y)); err == nil || !strings.Contains(err.Error(), "required") {
		t.Errorf("%v", err)
	}
	if _, err := contract.New(file(t, strings.Replace(y, "items/{id}", "items{/id}", 1))); err != nil {
		t.Errorf("{/id} leaves its segment out whole: %v", err)
	}
}

// A prefix modifier would make two different calls one act, without a word.
func TestAnArgumentIsNotCutShort(t *testing.T) {
	if _, err := contract.New(file(t, strings.Replace(fetch, "{id}", "{id:3}", 1))); err == nil {
		t.Error("{id:3} was taken")
	}
}

// A header has one value, in whatever spelling its name is written.
func TestAHeaderIsNamedOnce(t *testing.T) {
	y := strings.Replace(deploy1, "credential: ci", "credential: ci, headers: {X-Source: a, x-source: b}", 1)
	if _, err := contract.New(file(t, y)); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%v", err)
	}
}

// Two contracts that send different numbers have different digests, or are refused.
func TestNumbersThatADigestCannotHoldAreRefused(t *testing.T) {
	for number, want := range map[string]bool{
		"9007199254740993": false, "0.12345678901234567891": false, "1e400": false, "1e-400": false, "1e-99999999": false,
		"9007199254740992": true, "0.1": true, "-12.50": true, "0": true, "0e5": true, "1e300": true,
	} {
		f := file(t, deploy1)
		f.HTTP.JSON = json.RawMessage(`{"branch":{"$arg":"branch"},"n":[` + number + `]}`)
		if _, err := contract.New(f); (err == nil) != want {
			t.Errorf("%s: %v", number, err)
		}
	}
}
