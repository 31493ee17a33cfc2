package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"executor/internal/strictjson"
)

type variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type base struct {
	ID int `json:"id"`
}

type level int

func (l *level) UnmarshalJSON(b []byte) error {
	if string(b) != `"call"` {
		return errors.New("want the name of a level")
	}
	*l = 2
	return nil
}

type call struct {
	base
	Host    string              `json:"host"`
	Command string              `json:"command,omitempty"`
	Timeout int8                `json:"timeout_s"`
	Size    uint16              `json:"size"`
	Ratio   *float32            `json:"ratio"`
	On      bool                `json:"on"`
	Env     []variable          `json:"env"`
	Named   map[string]variable `json:"named"`
	Next    *call               `json:"next"`
	Raw     json.RawMessage     `json:"raw"`
	Any     any                 `json:"any"`
	Level   level               `json:"level"`
	Until   time.Time           `json:"until"`
	Pair    [2]int              `json:"pair"`
	Body    []byte              `json:"body"`
	Digits  json.Number         `json:"digits"`
	Quoted  int                 `json:"quoted,string"`
	Hidden  string              `json:"-"`
	Plain   string
}

func TestDecode(t *testing.T) {
	raw := `{"id":7,"host":"web-1","command":"uptime","timeout_s":-5,"size":9,"ratio":0.5,"on":true,
		"env":[{"name":"A","value":"1"}],"named":{"Any Key":{"name":"B"}},"next":{"host":"web-2"},
		"raw":{"n": 1.00 , "Host":2},"any":{"n":12345678901234567890.10},"level":"call","until":"2027-01-31T00:00:00Z",
		"pair":[1,2],"body":"aGk=","digits":1.50,"quoted":"3","Plain":"p"}`
	var got call
	if err := strictjson.Decode([]byte(raw), &got); err != nil {
		t.Fatal(err)
	}
	half := float32(0.5)
	want := call{base: base{ID: 7}, Host: "web-1", Command: "uptime", Timeout: -5, Size: 9, Ratio: &half, On: true,
		Env: []variable{{"A", "1"}}, Named: map[string]variable{"Any Key": {Name: "B"}}, Next: &call{Host: "web-2"},
		Raw: json.RawMessage(`{"n": 1.00 , "Host":2}`), Any: map[string]any{"n": json.Number("12345678901234567890.10")},
		Level: 2, Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), Pair: [2]int{1, 2}, Body: []byte("hi"),
		Digits: "1.50", Quoted: 3, Plain: "p"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(call{})); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"unknown", `{"nope":1}`, `/nope: unknown key "nope"`},
		{"case variant", `{"Command":"x"}`, `/Command: unknown key "Command" (did you mean "command"?)`},
		{"case variant beside the key", `{"command":"x","COMMAND":"y"}`, `/COMMAND: unknown key "COMMAND" (did you mean "command"?)`},
		{"Kelvin sign", `{"to\u212aen":1,"ho\u017ft":1}`, "/to\u212aen: unknown key \"to\u212aen\"; /ho\u017ft: unknown key \"ho\u017ft\" (did you mean \"host\"?)"},
		{"separator", `{"timeoutS":1}`, `/timeoutS: unknown key "timeoutS" (did you mean "timeout_s"?)`},
		{"hidden field", `{"Hidden":"x"}`, `/Hidden: unknown key "Hidden"`},
		{"dash", `{"-":"x"}`, `/-: unknown key "-"`},
		{"embedded name", `{"base":{}}`, `/base: unknown key "base"`},
		{"all of them", `{"b":1,"a":{"c":1},"env":[{"name":"A"},{"NAME":"B","x":0}],"next":{"named":{"k":{"Value":""}}}}`,
			`/b: unknown key "b"; /a: unknown key "a"; /env/1/NAME: unknown key "NAME" (did you mean "name"?); ` +
				`/env/1/x: unknown key "x"; /next/named/k/Value: unknown key "Value" (did you mean "value"?)`},
		{"kinds", `{"host":1,"timeout_s":"5","on":1,"env":{},"named":[],"next":"","digits":"1","ratio":true}`,
			`/host: want a string, got a number; /timeout_s: want a number, got a string; /on: want true or false, got a number; ` +
				`/env: want a list, got an object; /named: want an object, got a list; /next: want an object, got a string; ` +
				`/digits: want a number, got a string; /ratio: want a number, got true or false`},
		{"range", `{"timeout_s":128,"size":65536,"ratio":1e99}`,
			`/timeout_s: the number is too large; /size: the number is too large; /ratio: the number is too large`},
		{"fraction", `{"timeout_s":1.5,"size":-1,"id":1e3}`, `/timeout_s: want a whole number without fraction or exponent; ` +
			`/size: want a whole number, zero or more; /id: want a whole number without fraction or exponent`},
		{"own decoding", `{"next":{"level":"x"}}`, `/next/level: want the name of a level`},
		{"array length", `{"pair":[1,2,3]}`, `/pair: want 2 entries, got 3`},
		{"empty array", `{"pair":[]}`, `/pair: want 2 entries, got 0`},
		{"duplicate in raw", `{"raw":{"a":1,"a":2}}`, `/raw/a: duplicate key "a"`},
		{"duplicate in own decoding", `{"level":{"a":1,"a":2}}`, `/level/a: duplicate key "a"`},
		{"malformed after a problem", `{"nope":1,}`, `not valid JSON: want a key in double quotes, got '}' at byte 10`},
		{"whole", `[]`, `want an object, got a list`},
		{"control characters in a key", `{"a\u001b[2K\u202e":1}`, `/a\x1b[2K\u202e: unknown key "a\x1b[2K\u202e"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := strictjson.Decode([]byte(c.raw), new(call))
			if err == nil || err.Error() != c.want {
				t.Errorf("Decode(%s)\n got %v\nwant %s", c.raw, err, c.want)
			}
		})
	}
}

// Values may be secrets: whatever is wrong with one, the error does not repeat it.
func TestDecodeRepeatsNoValue(t *testing.T) {
	for _, raw := range []string{
		`{"host":["hunter2"]}`, `{"until":{"x":"hunter2"}}`, `{"until":"hunter2"}`, `{"quoted":"hunter2"}`, `{"body":"hunter2"}`,
		`{"next":"hunter2"}`, `{"timeout_s":"hunter2"}`, `{"on":"hunter2"`, `{"pair":["hunter2","hunter2"]}`,
	} {
		err := strictjson.Decode([]byte(raw), new(call))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Decode(%s): %v", raw, err)
		}
	}
}

func TestDecodeListsABoundedNumber(t *testing.T) {
	err := strictjson.Decode([]byte("{"+manyKeys(100)+"}"), new(call))
	var all strictjson.Errors
	if !errors.As(err, &all) || len(all) != strictjson.MaxProblems+1 || all[len(all)-1].Problem != "and 80 more problems" {
		t.Errorf("got %d problems: %v", len(all), err)
	}
}

func TestDecodeNeedsAPointer(t *testing.T) {
	for _, v := range []any{nil, call{}, (*call)(nil)} {
		var invalid *json.InvalidUnmarshalError
		if err := strictjson.Decode([]byte(`{}`), v); !errors.As(err, &invalid) {
			t.Errorf("Decode into %T: %v", v, err)
		}
	}
}

func TestMembers(t *testing.T) {
	got, err := strictjson.Members([]byte(` {"a" : {"x": 1.0 } , "\u0062":[ ],"":null} `))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": `{"x": 1.0 }`, "b": "[ ]", "": "null"}
	if len(got) != len(want) {
		t.Errorf("keys %v", slices.Collect(maps.Keys(got)))
	}
	for k, v := range want {
		if string(got[k]) != v {
			t.Errorf("member %q = %q, want %q", k, got[k], v)
		}
	}
	for raw, want := range map[string]string{
		`{"a":1,"a":2}`:       `/a: duplicate key "a"`,
		`{"a":{"b":1,"b":2}}`: `/a/b: duplicate key "b"`,
		` [1]`:                `want an object, got a list`,
		`null`:                `want an object, got null`,
		``:                    `not valid JSON: it ends where a value should be`,
	} {
		if _, err := strictjson.Members([]byte(raw)); fmt.Sprint(err) != want {
			t.Errorf("Members(%s): %v, want %s", raw, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"host":"a","env":[{"name":"n","value":"v"}],"next":{"host":"b"}}`, `{"HOST":1}`, `{"named":{"A":{"name":""}}}`, `{"env":null}`, `{"id":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v call
		if strictjson.Decode(raw, &v) != nil {
			return
		}
		var tree any
		if err := json.Unmarshal(raw, &tree); err != nil {
			t.Fatalf("accepts %q: %v", raw, err)
		}
		exactKeys(t, tree, reflect.TypeFor[call]())
		if _, err := strictjson.Members(raw); err != nil && string(strings.TrimSpace(string(raw))) != "null" {
			t.Fatalf("Members refuses %q: %v", raw, err)
		}
	})
}

// exactKeys walks a decoded text beside the type, by the tags as they are written above.
func exactKeys(t *testing.T, tree any, typ reflect.Type) {
	names := map[reflect.Type]string{
		reflect.TypeFor[call]():     ",id,host,command,timeout_s,size,ratio,on,env,named,next,raw,any,level,until,pair,body,digits,quoted,Plain,",
		reflect.TypeFor[variable](): ",name,value,",
	}[typ]
	object, _ := tree.(map[string]any)
	for key, value := range object {
		if !strings.Contains(names, ","+key+",") || strings.Contains(key, ",") {
			t.Fatalf("key %q is no field of %v", key, typ)
		}
		switch key {
		case "next":
			exactKeys(t, value, typ)
		case "named":
			each, _ := value.(map[string]any)
			for _, one := range each {
				exactKeys(t, one, reflect.TypeFor[variable]())
			}
		case "env":
			list, _ := value.([]any)
			for _, one := range list {
				exactKeys(t, one, reflect.TypeFor[variable]())
			}
		}
	}
}
