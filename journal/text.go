package journal

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
)

const saltSize = 16

// Fields of the side table.
const (
	fieldRawArgs        = "raw_args"
	fieldNormalizedArgs = "normalized_args"
	fieldActionDigest   = "action_digest"
	fieldShownDigest    = "shown_digest"
	fieldApprovalDigest = "approval_digest"
	fieldTarget         = "downstream_target"
	fieldDownstream     = "downstream"
	fieldResponse       = "response_sha256"
	fieldCredential     = "credential"
	fieldTool           = "tool"
	fieldBy             = "by"
	fieldBasis          = "basis"
	fieldReason         = "reason"
	fieldDetail         = "detail"
	fieldClientName     = "client_name"
	fieldClientVersion  = "client_version"
	fieldClientProtocol = "client_protocol"
	fieldPeer           = "peer"
	fieldScope          = "scope"
)

// A text is one value of the side table.
type text struct {
	field string
	salt  []byte
	value []byte
}

// hash is what stands for the text in the body.
func (t text) hash() string {
	h := sha256.New()
	h.Write(t.salt)
	io.WriteString(h, t.field)
	h.Write([]byte{0})
	h.Write(t.value)
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil))
}

// texts collects the texts of one entry; an empty value is no text.
type texts []text

func (t *texts) add(field, value string) {
	if value != "" {
		*t = append(*t, text{field: field, value: []byte(value)})
	}
}

// salt gives every text a salt of its own: one that is shared would stay
// behind when its neighbour is redacted, and make guesses checkable.
func (t texts) salt(rand io.Reader) error {
	salts := make([]byte, saltSize*len(t))
	if _, err := io.ReadFull(rand, salts); err != nil {
		return fmt.Errorf("%w: salt: %v", ErrUnavailable, err)
	}
	for i := range t {
		t[i].salt = salts[i*saltSize : (i+1)*saltSize : (i+1)*saltSize]
	}
	return nil
}

func (t texts) hashes() map[string]string {
	if len(t) == 0 {
		return nil
	}
	m := make(map[string]string, len(t))
	for _, x := range t {
		m[x.field] = x.hash()
	}
	return m
}
