package journal

import (
	"database/sql/driver"
	"encoding/json"
	"slices"
	"strings"

	"modernc.org/sqlite"
)

// textValue is the SQL function text_value(rest, field): a text that has no
// column of its own, or NULL.
func textValue(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	if len(args) != 2 {
		return nil, nil
	}
	rest, _ := args[0].([]byte)
	field, _ := args[1].(string)
	list, err := parseRest(rest)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(list, func(x text) bool { return x.field == field && x.taken == nil }); i >= 0 {
		return strings.ToValidUTF8(string(list[i].value), "\uFFFD"), nil
	}
	return nil, nil
}

// bodyValue is the SQL function body_value(body, name…): a value inside a body,
// NULL where there is none. False and true are 0 and 1.
func bodyValue(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	if len(args) < 2 {
		return nil, nil
	}
	raw, _ := args[0].([]byte)
	for _, name := range args[1:] {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return nil, nil
		}
		key, _ := name.(string)
		raw = members[key]
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil, nil
	}
	switch v := v.(type) {
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		return int64(v), nil // a body holds whole numbers only
	case string:
		return v, nil
	}
	return nil, nil
}
