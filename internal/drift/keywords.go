package drift

import (
	"encoding/json"
	"math/big"
	"slices"
)

func (n *node) setTypes(v any) bool {
	list, isArray := v.([]any)
	if !isArray {
		list = []any{v}
	}
	var set typeSet
	for _, e := range list {
		name, _ := e.(string)
		one := typeNamed(name)
		if one == 0 {
			return false
		}
		set |= one
	}
	if set == 0 {
		return false
	}
	n.types, n.declared, n.typeArray = set, true, isArray
	return true
}

// addEnum intersects: const beside enum leaves what both admit. Values with
// numbers too big to compare are refused.
func (n *node) addEnum(list []any) bool {
	if !comparable(list) {
		return false
	}
	set := sortedSet(list)
	if n.hasEnum {
		set = slices.DeleteFunc(set, func(v any) bool { return !n.lists(v) })
	}
	n.enum, n.hasEnum, n.enumSet = set, true, make(map[string]bool, len(set))
	for _, v := range set {
		n.enumSet[canonical(v)] = true
	}
	return true
}

// lists says whether the enum holds a value.
func (n *node) lists(v any) bool { return n.enumSet[canonical(v)] }

// comparable says that equal values have equal canonical forms all the way down.
func comparable(v any) bool {
	switch v := v.(type) {
	case json.Number:
		_, ok := exact(v)
		return ok
	case overDeep:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !comparable(e) })
	case map[string]any:
		for _, e := range v {
			if !comparable(e) {
				return false
			}
		}
	}
	return true
}

func (n *node) setLimit(k string, v any) bool {
	r, ok := rat(v)
	if !ok {
		return false
	}
	open := k == "exclusiveMinimum" || k == "exclusiveMaximum"
	if k == "minimum" || k == "exclusiveMinimum" {
		n.low = tighterLow(n.low, &limit{r, open})
	} else {
		n.high = tighterHigh(n.high, &limit{r, open})
	}
	return true
}

// tighterLow and tighterHigh are the stricter of two ends; nil is no end.
func tighterLow(a, b *limit) *limit  { return tighter(a, b, 1) }
func tighterHigh(a, b *limit) *limit { return tighter(a, b, -1) }

func tighter(a, b *limit, sign int) *limit {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	switch c := a.at.Cmp(b.at) * sign; {
	case c > 0, c == 0 && a.open:
		return a
	}
	return b
}

func (n *node) setCount(k string, v any) bool {
	r, ok := rat(v)
	if !ok || !r.IsInt() || r.Sign() < 0 {
		return false
	}
	if n.counts == nil {
		n.counts = map[string]*big.Rat{}
	}
	n.counts[k] = r
	return true
}

func (n *node) setDepReq(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	out := map[string]map[string]bool{}
	for k, e := range m {
		set, ok := nameSet(e)
		if !ok {
			return false
		}
		out[k] = set
	}
	n.depReq = out
	return true
}

// settle brings keywords to one form once all are known.
func (n *node) settle() {
	if n.types&tNumber == tInt {
		n.low, n.high = wholeLow(n.low), wholeHigh(n.high)
	}
	for _, k := range []string{"minLength", "minItems", "minProperties"} {
		if r := n.counts[k]; r != nil && r.Sign() == 0 {
			delete(n.counts, k)
		}
	}
	if n.contains == nil {
		delete(n.counts, "minContains")
		delete(n.counts, "maxContains")
	}
	if n.ifNode == nil || n.thenNode == nil && n.elseIt == nil {
		n.ifNode, n.thenNode, n.elseIt = nil, nil, nil
	}
}

// wholeLow turns x > 0 into x >= 1, and x >= 0.5 too, where x is an integer.
func wholeLow(l *limit) *limit {
	if l == nil {
		return nil
	}
	floor := floorOf(l.at)
	if l.open || !l.at.IsInt() {
		floor.Add(floor, big.NewInt(1))
	}
	return &limit{at: new(big.Rat).SetInt(floor)}
}

func wholeHigh(l *limit) *limit {
	if l == nil {
		return nil
	}
	floor := floorOf(l.at)
	if l.open && l.at.IsInt() {
		floor.Sub(floor, big.NewInt(1))
	}
	return &limit{at: new(big.Rat).SetInt(floor)}
}

func floorOf(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }
