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

// A text is one value of the side table. Of one that was taken out the hash is left.
type text struct {
	field string
	salt  []byte
	value []byte
	taken *textHash
}

type textHash [sha256.Size]byte

func (t text) hash() textHash {
	if t.taken != nil {
		return *t.taken
	}
	b := make([]byte, 0, len(t.salt)+len(t.field)+1+len(t.value))
	b = append(append(append(b, t.salt...), t.field...), 0)
	return sha256.Sum256(append(b, t.value...))
}

// out is what is left of the text when it is taken out.
func (t text) out() text {
	hash := t.hash()
	return text{field: t.field, taken: &hash}
}

// texts are those of one entry, in the order of their fields once they are
// sealed; an empty value is no text.
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

// commitment is what stands in the body for all texts, "" for none.
func (t texts) commitment() string {
	if len(t) == 0 {
		return ""
	}
	var b []byte
	for _, x := range t {
		hash := x.hash()
		b = append(append(append(b, byte(len(x.field))), x.field...), hash[:]...)
	}
	sum := sha256.Sum256(b)
	return base64.RawStdEncoding.EncodeToString(sum[:])
}
