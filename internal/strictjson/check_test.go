package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"executor/internal/strictjson"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"object", `{"a":1,"b":[true,false,null,"x"],"A":{}}`, ""},
		{"space around", " \t\r\n[1] \n", ""},
		{"scalar", `-0.5e+10`, ""},
		{"pair", `"\ud83d\ude00"`, ""},
		{"empty key", `{"":{"":1}}`, ""},
		{"duplicate", `{"a":1,"a":2}`, `/a: duplicate key "a"`},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, `/a: duplicate key "a"`},
		{"duplicate deep", `[{"x/y":[0,{"k":1,"k":1}]}]`, `/0/x~1y/1/k: duplicate key "k"`},
		{"duplicate of the empty key", `{"":1,"":2}`, `/: duplicate key ""`},
		{"duplicate among many", "{" + manyKeys(100) + `,"k7":0}`, `/k7: duplicate key "k7"`},
		{"lone high", `{"a":"\ud83d"}`, `/a: lone surrogate at byte 6`},
		{"lone low", `"\ude00"`, `lone surrogate at byte 1`},
		{"two high", `"\ud83d\ud83d"`, `lone surrogate at byte 1`},
		{"high, then text", `"\ud83dx"`, `lone surrogate at byte 1`},
		{"lone in a key", `{"\ud83d":1}`, `lone surrogate at byte 2`},
		{"bad UTF-8", "[\"a\xffb\"]", `invalid UTF-8 at byte 3`},
		{"UTF-8 surrogate", "\"\xed\xa0\x80\"", `invalid UTF-8 at byte 1`},
		{"byte order mark", "\ufeff{}", `starts with a byte order mark; JSON has none`},
		{"trailing value", `{} {}`, `data after the end of the value, at byte 3`},
		{"trailing comma", `[1,]`, `/1: not valid JSON: want a value, got ']' at byte 3`},
		{"empty", ``, `not valid JSON: it ends where a value should be`},
		{"cut", `{"a":`, `/a: not valid JSON: it ends where a value should be`},
		{"leading zero", `01`, `data after the end of the value, at byte 1`},
		{"bare word", `{"a":nul}`, `/a: not valid JSON: want a value, got 'n' at byte 5`},
		{"control character", "\"a\nb\"", `not valid JSON: want an escape for a control character, got '\n' at byte 2`},
		{"unknown escape", `"\q"`, `not valid JSON: want an escape character, got 'q' at byte 2`},
		{"single quotes", `{'a':1}`, `not valid JSON: want a key in double quotes, got '\'' at byte 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if err := strictjson.Check([]byte(c.raw)); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("Check(%q)\n got %s\nwant %s", c.raw, got, c.want)
			}
		})
	}
}

func manyKeys(n int) string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return strings.Join(keys, ",")
}

func TestCheckDepth(t *testing.T) {
	for name, pair := range map[string][2]string{"lists": {"[", "]"}, "objects": {`{"a":`, "}"}} {
		nested := func(n int) []byte {
			return []byte(strings.Repeat(pair[0], n) + "1" + strings.Repeat(pair[1], n))
		}
		if err := strictjson.Check(nested(strictjson.MaxDepth)); err != nil {
			t.Errorf("%s at the limit: %v", name, err)
		}
		err := strictjson.Check(nested(strictjson.MaxDepth + 1))
		if err == nil || !strings.Contains(err.Error(), "nested deeper than 128 levels") {
			t.Errorf("%s beyond the limit: %v", name, err)
		}
	}
	if err := strictjson.Check([]byte(strings.Repeat("[", 1<<20))); err == nil {
		t.Error("a million open brackets passed")
	}
}

// A long key must not come back whole in an error.
func TestErrorsAreBounded(t *testing.T) {
	key := strings.Repeat("ü", 1<<16)
	err := strictjson.Check([]byte(`{"` + key + `":1,"` + key + `":1}`))
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "…") {
		t.Errorf("%d bytes of error, want a shortened key", len(fmt.Sprint(err)))
	}
}

func TestErrorsAs(t *testing.T) {
	err := fmt.Errorf("arguments: %w", strictjson.Check([]byte(`{"a":1,"a":2}`)))
	var all strictjson.Errors
	var one strictjson.Error
	if !errors.As(err, &all) || !errors.As(err, &one) || one.Path != "/a" || len(all) != 1 {
		t.Errorf("errors.As: %v, %v", all, one)
	}
}

// A long text costs no memory, and many keys no quadratic time: compared one by
// one, 131072 keys would take many times the limit under the race detector.
func TestCheckIsFrugal(t *testing.T) {
	for name, raw := range map[string][]byte{
		"one string":   []byte(`{"body":"` + strings.Repeat(`x\n`, 1<<19) + `"}`),
		"many numbers": []byte(`[` + strings.Repeat("1,", 1<<16) + `1]`),
	} {
		allocs := testing.AllocsPerRun(1, func() {
			if err := strictjson.Check(raw); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 8 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
	many := []byte(`{` + manyKeys(1<<17) + `}`)
	start := time.Now()
	if err := strictjson.Check(many); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("many keys: %v", took)
	}
}

func BenchmarkCheck(b *testing.B) {
	raw := []byte(`{"body":"` + strings.Repeat(`line\n of text `, 1<<20) + `"}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if err := strictjson.Check(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"\u00e9\ud83d\ude00"]}`, `{"a":1,"\u0061":2}`, `"\ud800"`, "\"\xff\"", `[[[]]]`, `-`, `1e`, `{"a"`, `"\`, `"\u12`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := strictjson.Check(raw)
		if err == nil && !json.Valid(raw) {
			t.Fatalf("accepts %q, which is not JSON", raw)
		}
		if err == nil {
			return
		}
		var all strictjson.Errors
		if !errors.As(err, &all) || len(all) != 1 {
			t.Fatalf("error %v is not one Error", err)
		}
		if strings.Contains(all[0].Problem, "not valid JSON") && json.Valid(raw) {
			t.Fatalf("calls %q invalid: %v", raw, err)
		}
	})
}
