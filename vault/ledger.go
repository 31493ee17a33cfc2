package vault

import "context"

// A Ledger is what the vault needs of an append-only log that outlives it: a
// second memory that tells when the vault was rolled back, and whose own
// rollback the vault tells in turn. All calls are made while this process
// holds the vault's file lock, so LastGeneration and RecordGeneration of two
// writers never interleave. Any error is taken as a refusal.
type Ledger interface {
	// LastGeneration returns the newest generation on record and its MAC as
	// it was recorded; 0 and "" when there is none.
	LastGeneration(ctx context.Context) (generation uint64, mac string, err error)

	// RecordGeneration makes a generation durable before it returns. Detail is
	// the operator's act in a few words; it holds no secret.
	RecordGeneration(ctx context.Context, generation uint64, mac, detail string) error

	// Head returns the number of entries and the root hash over them.
	Head(ctx context.Context) (size int64, root [32]byte, err error)

	// Extends returns nil when the log's first size entries have this root:
	// the log is that one, perhaps longer. Size 0 is extended by any log.
	Extends(ctx context.Context, size int64, root [32]byte) error
}
