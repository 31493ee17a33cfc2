package journal

import (
	"errors"
	"fmt"
)

// ErrUnavailable matches every error by which an entry was not durably
// written: whoever gets it must not act.
var ErrUnavailable = errors.New("journal unavailable")

// Errors that also match ErrUnavailable.
var (
	// ErrLowDisk: the file system is down to the reserve.
	ErrLowDisk = fmt.Errorf("%w: low disk space", ErrUnavailable)
	// ErrReplaced: a file of the journal is no longer the one that was opened.
	ErrReplaced = fmt.Errorf("%w: file replaced", ErrUnavailable)
	// ErrBusy: another process held the write lock for too long.
	ErrBusy = fmt.Errorf("%w: locked by another process", ErrUnavailable)
	// ErrClosed: the Journal was closed.
	ErrClosed = fmt.Errorf("%w: closed", ErrUnavailable)
)

// Errors about what the journal says of itself.
var (
	// ErrTampered: the content contradicts its hashes, its signatures or the pin.
	ErrTampered = errors.New("journal tampered with")
	// ErrRolledBack: the log is shorter than it has been.
	ErrRolledBack = errors.New("journal rolled back")
	// ErrDamaged: a file cannot be read as what it should be.
	ErrDamaged = errors.New("journal damaged")
	// ErrWrongKey: the log belongs to another key.
	ErrWrongKey = errors.New("journal has another key")
)

// Errors about the place and the request.
var (
	// ErrExists: Create found a file of a journal.
	ErrExists = errors.New("journal exists already")
	// ErrMissing: there is no journal here.
	ErrMissing = errors.New("no journal here")
	// ErrExposed: others than the owner have access to a file.
	ErrExposed = errors.New("journal file has too wide a mode")
	// ErrNetworkFS: the directory is on a network file system, whose locks
	// and shared memory SQLite cannot rely on.
	ErrNetworkFS = errors.New("journal is on a network file system")
	// ErrInvalid: the record cannot be an entry, or the Config is incomplete.
	ErrInvalid = errors.New("invalid")
	// ErrDuplicate: the activity has this entry already.
	ErrDuplicate = errors.New("already recorded")
	// ErrNotFound: no such activity, session or intent.
	ErrNotFound = errors.New("not found")
	// ErrAmbiguous: an id prefix fits more than one record.
	ErrAmbiguous = errors.New("ambiguous")
)
