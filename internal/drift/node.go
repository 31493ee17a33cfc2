package drift

import (
	"encoding/json"
	"math/big"
)

// A node is one subschema, its keywords decoded. Absent keywords are nil.
type node struct {
	doc  *document
	at   string // location in its own document: JSON Pointer, "" for the root
	base *node  // the schema resource it belongs to ($id), for pointers
	raw  any

	viewed *node // by view, once

	made  bool // by this package, not read from the document
	never bool // the schema `false`
	texts map[string]any

	types     typeSet
	declared  bool // `type` is there
	typeArray bool
	enum      []any // sorted set; const is a one-value enum
	enumSet   map[string]bool
	hasEnum   bool

	low, high  *limit
	counts     map[string]*big.Rat // minLength … maxContains
	multipleOf *big.Rat
	pattern    *string
	format     *string
	unique     bool

	prefix                        []*node
	items, contains, unevalItems  *node
	props, patProps, depSchemas   map[string]*node
	addl, propNames, unevalProps  *node
	required                      map[string]bool
	depReq                        map[string]map[string]bool
	allOf, anyOf, oneOf           []*node
	not, ifNode, thenNode, elseIt *node

	ref     *node
	refText string
	refBad  string // "external" or "unresolved"

	unknown map[string]string // other keywords, and known ones with a value of the wrong kind
}

// A limit is one end of a range of numbers.
type limit struct {
	at   *big.Rat
	open bool // the end itself is outside
}

// typeSet is a set of instance types; number is integer plus fraction.
type typeSet uint8

const (
	tNull typeSet = 1 << iota
	tBool
	tInt
	tFrac
	tString
	tArray
	tObject

	tNumber = tInt | tFrac
	tAll    = tNull | tBool | tNumber | tString | tArray | tObject
)

func typeNamed(name string) typeSet {
	switch name {
	case "null":
		return tNull
	case "boolean":
		return tBool
	case "integer":
		return tInt
	case "number":
		return tNumber
	case "string":
		return tString
	case "array":
		return tArray
	case "object":
		return tObject
	}
	return 0
}

// names lists the types as JSON Schema spells them.
func (t typeSet) names() []string {
	var out []string
	for _, name := range []string{"array", "boolean", "integer", "null", "number", "object", "string"} {
		set := typeNamed(name)
		if t&set != set || name == "integer" && t&tFrac != 0 {
			continue
		}
		out = append(out, name)
	}
	if t&tNumber == tFrac {
		out = append(out, "fraction")
	}
	return out
}

// each lists the single types of the set, integer and number as one.
func (t typeSet) each() []typeSet {
	var out []typeSet
	for _, one := range []typeSet{tNull, tBool, tNumber, tString, tArray, tObject} {
		if t&one != 0 {
			out = append(out, t&one)
		}
	}
	return out
}

func typeOf(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return tNull
	case bool:
		return tBool
	case json.Number:
		if r, ok := exact(v); ok && r.IsInt() {
			return tInt
		} else if !ok {
			return tNumber
		}
		return tFrac
	case string:
		return tString
	case []any:
		return tArray
	case map[string]any:
		return tObject
	}
	return tAll
}
