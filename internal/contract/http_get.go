package contract

import "encoding/json"

type httpGetArgs struct {
	URL        string                     `json:"url"`
	Query      map[string]json.RawMessage `json:"query"`
	Headers    map[string]string          `json:"headers"`
	Credential *string                    `json:"credential"`
	TimeoutS   *int                       `json:"timeout_s"`
	MaxBytes   *int                       `json:"max_bytes"`
}

// renderHTTPGet makes the very draft that http_request makes of a GET.
func renderHTTPGet(raw json.RawMessage) (Draft, error) {
	var a httpGetArgs
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	return draftHTTP(&httpRequestArgs{
		Method: "GET", URL: a.URL, Query: a.Query, Headers: a.Headers,
		Credential: a.Credential, TimeoutS: a.TimeoutS, MaxBytes: a.MaxBytes,
	})
}
