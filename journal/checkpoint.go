package journal

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A checkpoint is the size and root of the tree, as a C2SP tlog-checkpoint
// names them.
type checkpoint struct {
	size int64
	root tlog.Hash
}

func (c checkpoint) text(origin string) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, c.size, c.root)
}

// sign returns the checkpoint as a signed note.
func (c checkpoint) sign(s *signer) ([]byte, error) {
	msg, err := note.Sign(&note.Note{Text: c.text(s.Name())}, s)
	if err != nil {
		return nil, fmt.Errorf("signing a checkpoint: %w", err)
	}
	return msg, nil
}

// openCheckpoint checks the signature on msg and returns what it says. The
// origin line must be the name of the key.
func openCheckpoint(msg []byte, v note.Verifier) (checkpoint, error) {
	n, err := note.Open(msg, note.VerifierList(v))
	if err != nil {
		return checkpoint{}, fmt.Errorf("%w: checkpoint: %v", ErrTampered, err)
	}
	return parseCheckpoint(n.Text, v.Name())
}

func parseCheckpoint(text, origin string) (checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" || lines[0] != origin {
		return checkpoint{}, fmt.Errorf("%w: checkpoint: malformed", ErrTampered)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return checkpoint{}, fmt.Errorf("%w: checkpoint: malformed size", ErrTampered)
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil || root.String() != lines[2] {
		return checkpoint{}, fmt.Errorf("%w: checkpoint: malformed root", ErrTampered)
	}
	return checkpoint{size, root}, nil
}
