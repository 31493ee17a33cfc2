package contract_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"executor/internal/action"
	"executor/internal/contract"
)

// What a schema cannot say: which arguments belong together.
func TestWriteArgumentsThatBelongTogether(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	c := tool(t, "ssh_write_file")
	for args, want := range map[string]string{
		`"path":"/x"`: "",
		`"path":"/x","content":"a","content_base64":"YQ=="`:                              "",
		`"path":"/x","content_base64":"not base64"`:                                      "/content_base64",
		`"path":"/x","content":"a","overwrite":true`:                                     "/expected_sha256",
		`"path":"/x","content":"a","expected_sha256":"` + digest + `"`:                   "/overwrite",
		`"path":"/x","content":"a","overwrite":false,"expected_sha256":"` + digest + `"`: "/overwrite",
		`"path":"/","content":"a"`:                                                       "/path",
		`"path":"/a\u0000b","content":"a"`:                                               "/path",
		`"path":"/` + strings.Repeat("a", 4096) + `","content":"a"`:                      "/path",
	} {
		_, err := c.Render(json.RawMessage(`{"host":"web-1",` + args + `}`))
		var problems action.Problems
		if !errors.As(err, &problems) || problems[0].Path != want {
			t.Errorf("%.80s: %v, want a problem at %q", args, err, want)
		}
	}
}

func TestWriteIsDrafted(t *testing.T) {
	digest := strings.Repeat("ab", 32)
	for args, want := range map[string]contract.SSHFileDraft{
		`"content":"é\n"`:                      {Mode: "0644", Content: []byte("é\n")},
		`"content_base64":"AP8=","mode":"600"`: {Mode: "0600", Content: []byte{0, 0xff}},
		`"content":"","overwrite":true,"expected_sha256":"` + digest + `"`:                      {Overwrite: true, Expected: "sha256:" + digest},
		`"content":"","overwrite":true,"expected_sha256":"sha256:` + digest + `","mode":"0755"`: {Overwrite: true, Expected: "sha256:" + digest, Mode: "0755"},
	} {
		d, err := tool(t, "ssh_write_file").Render(json.RawMessage(`{"host":"web-1","path":"/srv/x",` + args + `}`))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		got := d.(*contract.SSHFileDraft)
		if got.Mode != want.Mode || got.Overwrite != want.Overwrite || got.Expected != want.Expected || string(got.Content) != string(want.Content) || got.Operation != action.WriteFile {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

func TestTheMarkIsNotTheCallersToSet(t *testing.T) {
	for _, name := range []string{action.MarkerName, action.MarkerFallback} {
		_, err := tool(t, "ssh_exec").Render(json.RawMessage(`{"host":"web-1","command":"x","env":{"` + name + `":"1"}}`))
		var problems action.Problems
		if !errors.As(err, &problems) || problems[0].Path != "/env/"+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}
