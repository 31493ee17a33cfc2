package contract

import "encoding/json"

func renderListTargets(raw json.RawMessage) (Draft, error) {
	var none struct{}
	if err := decodeArgs(raw, &none); err != nil {
		return nil, err
	}
	return &TargetsDraft{}, nil
}
