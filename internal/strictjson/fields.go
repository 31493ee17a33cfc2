package strictjson

import (
	"reflect"
	"strings"
)

// A table maps the exact JSON names of a struct's fields to their types.
type table map[string]reflect.Type

// field returns the type for a member, and notes a key that the struct does not have.
func (s *scanner) field(e expected, key []byte) reflect.Type {
	switch {
	case e.is(reflect.Map):
		return e.t.Elem()
	case !e.is(reflect.Struct):
		return nil
	}
	fields := s.table(e.t)
	t, known := fields[string(key)]
	if known {
		return t
	}
	if name, ok := fields.like(string(key)); ok {
		s.note("unknown key %q (did you mean %q?)", shorten(string(key)), name)
	} else {
		s.note("unknown key %q", shorten(string(key)))
	}
	return nil
}

func (s *scanner) table(t reflect.Type) table {
	if known, ok := s.tables[t]; ok {
		return known
	}
	fields := table{}
	fields.fill(t)
	if s.tables == nil {
		s.tables = map[reflect.Type]table{}
	}
	s.tables[t] = fields
	return fields
}

// fill adds the fields of a struct. An embedded struct without a name of its own gives
// its fields, as in encoding/json; of two fields with one name the outer one counts.
func (f table) fill(t reflect.Type) {
	var embedded []reflect.Type
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case field.Tag.Get("json") == "-":
		case field.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			embedded = append(embedded, inner)
		case !field.IsExported():
		default:
			f.add(name, options, field)
		}
	}
	for _, inner := range embedded {
		outer := table{}
		outer.fill(inner)
		for name, t := range outer {
			if _, taken := f[name]; !taken {
				f[name] = t
			}
		}
	}
}

func (f table) add(name, options string, field reflect.StructField) {
	if name == "" {
		name = field.Name
	}
	t := field.Type
	for option := range strings.SplitSeq(options, ",") {
		if option == "string" {
			t = nil // a number or truth value inside a string, which encoding/json judges
		}
	}
	f[name] = t
}

// like finds the field that a key was probably meant for: the same letters in
// another case or with other separators.
func (f table) like(key string) (string, bool) {
	var best string
	for name := range f {
		if strings.EqualFold(bare(name), bare(key)) && (best == "" || name < best) {
			best = name
		}
	}
	return best, best != ""
}

func bare(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(name)
}
