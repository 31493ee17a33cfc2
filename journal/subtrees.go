package journal

import (
	"crypto/sha256"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// subtrees holds the complete subtrees at the right edge of a tree (RFC 6962,
// section 2.1), the largest first: a tree that grows without its past.
type subtrees struct {
	size   int64
	hashes []tlog.Hash
}

// push adds a leaf and returns the hashes that it completes, leaf first: what
// tlog stores for it.
func (s *subtrees) push(leaf tlog.Hash) []tlog.Hash {
	added := []tlog.Hash{leaf}
	for n := s.size; n&1 == 1; n >>= 1 {
		last := len(s.hashes) - 1
		leaf = tlog.NodeHash(s.hashes[last], leaf)
		s.hashes = s.hashes[:last]
		added = append(added, leaf)
	}
	s.hashes = append(s.hashes, leaf)
	s.size++
	return added
}

// root returns the root over all leaves so far.
func (s *subtrees) root() tlog.Hash {
	if s.size == 0 {
		return sha256.Sum256(nil) // MTH({}) of RFC 6962
	}
	root := s.hashes[len(s.hashes)-1]
	for i := len(s.hashes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(s.hashes[i], root)
	}
	return root
}

// clone lets a transaction grow a tree that it may have to give up.
func (s *subtrees) clone() subtrees { return subtrees{s.size, slices.Clone(s.hashes)} }
