package cli

import (
	"errors"
	"fmt"
	"slices"

	"executor/internal/ctl"
	"executor/internal/daemon"
	"executor/internal/drift"
	"executor/internal/mcpclient"
	"executor/internal/watchlist"
	"executor/journal"
	"executor/vault"
)

// Exit codes. Scripts rely on them.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitLocked    = 3
	exitNoDaemon  = 4
	exitTampered  = 10
	exitCannotSay = 11
	exitRefused   = 12 // a call came back as an error

	// Verdicts: of contract diff, check and watch; of a contract file; of a call
	// that a person must decide on.
	exitBreaking      = 10
	exitNotAcceptable = 10
	exitNeedsPerson   = 11
)

// A usageError is a command line that cannot be meant.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// A refusedError is a contract file that the rules refuse.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

// silent ends the program with a code when all was said already.
type silent struct{ code int }

func (s *silent) Error() string { return fmt.Sprintf("exit code %d", s.code) }

// exitCode is the one place where an error becomes a code.
func exitCode(err error) int {
	var usage *usageError
	var quiet *silent
	var refused *refusedError
	switch {
	case errors.As(err, &quiet):
		return quiet.code
	case errors.As(err, &refused):
		return exitNotAcceptable
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, vault.ErrWrongPassphrase), errors.Is(err, vault.ErrLocked), errors.Is(err, ctl.ErrLocked), errors.Is(err, ctl.ErrProof):
		return exitLocked
	case errors.Is(err, ctl.ErrNoDaemon):
		return exitNoDaemon
	case errors.Is(err, mcpclient.ErrDecision):
		return exitNeedsPerson
	case tampered(err):
		return exitTampered
	}
	return exitFailed
}

// tampered reports whether a file is not what this program left there.
func tampered(err error) bool {
	return slices.ContainsFunc([]error{
		vault.ErrDamaged, vault.ErrForged, vault.ErrRolledBack, vault.ErrJournalRolledBack,
		journal.ErrTampered, journal.ErrRolledBack, journal.ErrDamaged, journal.ErrWrongKey,
	}, func(e error) bool { return errors.Is(err, e) })
}

// hint is the one place where an error becomes the next command to type. home is
// the --home flag as it was given, to follow the command, or ""; store is that and
// the --store flag, to follow a contract command.
func hint(err error, home, store string) string {
	switch {
	case errors.Is(err, ctl.ErrNoDaemon):
		return "start it in a terminal of your own with: executor serve" + home
	case errors.Is(err, vault.ErrLocked), errors.Is(err, ctl.ErrLocked):
		return "open it with: executor unlock" + home
	case errors.Is(err, ctl.ErrProof):
		return "see whose home the running serve has with: executor status" + home
	case errors.Is(err, daemon.ErrServing):
		return "see how it is with: executor status" + home
	case errors.Is(err, vault.ErrMissing), errors.Is(err, journal.ErrMissing):
		return "if this home was never set up: executor init" + home
	case errors.Is(err, vault.ErrExists), errors.Is(err, journal.ErrExists):
		return "to use another directory: executor init --home DIR"
	case tampered(err), errors.Is(err, vault.ErrNotRecorded):
		return "see what the journal says with: executor journal verify" + home
	case errors.Is(err, journal.ErrAmbiguous):
		return "give more of the id; list them with: executor journal query" + home
	case errors.Is(err, mcpclient.ErrUnauthorized):
		return "store one with: executor credential add NAME" + home + ", and name it with --credential NAME"
	case errors.Is(err, mcpclient.ErrRedirected):
		return "give the URL where it goes with --http"
	case errors.Is(err, watchlist.ErrNotFound):
		return "list those there are with: executor contract server list" + store
	case errors.Is(err, watchlist.ErrExists):
		return "forget the other first with: executor contract server remove" + store
	case errors.Is(err, drift.ErrAmbiguous):
		return "give more of the hash"
	case errors.Is(err, drift.ErrNotFound):
		return "see what is pinned with: executor contract pins" + store
	case errors.Is(err, vault.ErrBusy), errors.Is(err, journal.ErrBusy):
		return "another executor command is writing; try again"
	}
	return ""
}
