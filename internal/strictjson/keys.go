package strictjson

import "bytes"

// fewKeys is up to how many keys are compared one by one; beyond, a map is cheaper.
const fewKeys = 16

// A keySet is the keys of one object. The zero value is empty.
type keySet struct {
	few  [][]byte
	many map[string]struct{}
}

// add reports whether key is new.
func (k *keySet) add(key []byte) bool {
	if k.many != nil {
		before := len(k.many)
		k.many[string(key)] = struct{}{}
		return len(k.many) > before
	}
	for _, old := range k.few {
		if bytes.Equal(old, key) {
			return false
		}
	}
	k.few = append(k.few, key)
	if len(k.few) > fewKeys {
		k.many = make(map[string]struct{}, 2*len(k.few))
		for _, old := range k.few {
			k.many[string(old)] = struct{}{}
		}
	}
	return true
}
