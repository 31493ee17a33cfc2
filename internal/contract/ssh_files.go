package contract

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"executor/internal/action"
)

// SSHFileDraft is a file operation before its host is looked up. Its fields are
// those of action.File.
type SSHFileDraft struct {
	Operation string
	Host      string
	Path      string
	Mode      string
	Overwrite bool
	Expected  string
	Content   []byte
	Entries   int
	Timeout   time.Duration
	MaxBytes  int
}

func (*SSHFileDraft) draft() {}

// newFileMode is the mode of a new file where the caller names none.
const newFileMode = "0644"

// Bounds of a path and of a listing.
const (
	maxPath        = 4096
	defaultEntries = 1000
	maxEntries     = 10000
)

// sshTarget is what the arguments of all file tools begin with.
type sshTarget struct {
	Host     string `json:"host"`
	Path     string `json:"path"`
	TimeoutS *int   `json:"timeout_s"`
}

func (c *checker) file(operation string, t sshTarget) *SSHFileDraft {
	if t.Host == "" {
		c.add("/host", "the name of a host is due; list_targets shows them")
	}
	if p := pathProblem(t.Path); p != "" {
		c.add("/path", p)
	}
	return &SSHFileDraft{Operation: operation, Host: t.Host, Path: t.Path, Timeout: c.timeout(t.TimeoutS, 3600)}
}

// pathProblem says why a path is not in the one spelling that is matched, shown
// and sent, or "".
func pathProblem(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "an absolute path is due, which begins with /"
	case len(path) > maxPath:
		return "is longer than 4096 bytes"
	case strings.ContainsRune(path, 0):
		return "holds a NUL byte"
	case path == "/":
		return ""
	}
	for _, segment := range strings.Split(path[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "has a segment that is empty, '.' or '..'; write the path that is meant"
		}
	}
	return ""
}

func renderSSHReadFile(raw json.RawMessage) (Draft, error) {
	var a struct {
		sshTarget
		MaxBytes *int `json:"max_bytes"`
	}
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	c := &checker{}
	d := c.file(action.ReadFile, a.sshTarget)
	d.MaxBytes = c.maxBytes(a.MaxBytes)
	return d, c.err()
}

func renderSSHListDir(raw json.RawMessage) (Draft, error) {
	var a struct {
		sshTarget
		MaxEntries *int `json:"max_entries"`
	}
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	c := &checker{}
	d := c.file(action.ListDir, a.sshTarget)
	d.Entries = c.limit("/max_entries", a.MaxEntries, defaultEntries, maxEntries)
	return d, c.err()
}

type sshWriteArgs struct {
	sshTarget
	Content       *string `json:"content"`
	ContentBase64 *string `json:"content_base64"`
	Mode          *string `json:"mode"`
	Overwrite     bool    `json:"overwrite"`
	Expected      *string `json:"expected_sha256"`
}

func renderSSHWriteFile(raw json.RawMessage) (Draft, error) {
	var a sshWriteArgs
	if err := decodeArgs(raw, &a); err != nil {
		return nil, err
	}
	c := &checker{}
	d := c.file(action.WriteFile, a.sshTarget)
	if a.Path == "/" {
		c.add("/path", "is a directory; the path of a file is due")
	}
	d.Content = c.content(&a)
	d.Mode = c.mode(&a)
	d.Overwrite, d.Expected = a.Overwrite, c.expected(&a)
	return d, c.err()
}

func (c *checker) content(a *sshWriteArgs) []byte {
	switch {
	case (a.Content == nil) == (a.ContentBase64 == nil):
		c.add("", "exactly one of content and content_base64 is due")
		return nil
	case a.Content != nil:
		return []byte(*a.Content)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(*a.ContentBase64)
	if err != nil {
		c.add("/content_base64", "is not base64 (RFC 4648, section 4, with padding)")
	}
	return b
}

var modeRE = regexp.MustCompile(`^0?[0-7]{3}$`)

func (c *checker) mode(a *sshWriteArgs) string {
	switch {
	case a.Mode == nil && a.Overwrite:
		return ""
	case a.Mode == nil:
		return newFileMode
	case !modeRE.MatchString(*a.Mode):
		c.add("/mode", "three octal digits are due, such as 0644: no setuid, setgid or sticky bit")
		return ""
	}
	return "0" + (*a.Mode)[len(*a.Mode)-3:]
}

var sha256RE = regexp.MustCompile(`^(sha256:)?[0-9a-f]{64}$`)

func (c *checker) expected(a *sshWriteArgs) string {
	switch {
	case a.Overwrite && a.Expected == nil:
		c.add("/expected_sha256", "is due with overwrite: the digest of the file that is there, which ssh_read_file returns")
		return ""
	case a.Expected == nil:
		return ""
	case !sha256RE.MatchString(*a.Expected):
		c.add("/expected_sha256", "'sha256:' and 64 hex digits are due")
		return ""
	case !a.Overwrite:
		c.add("/overwrite", "true is due with expected_sha256")
	}
	return "sha256:" + strings.TrimPrefix(*a.Expected, "sha256:")
}
