package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ownFiles are the patterns of what this package keeps in a home.
var ownFiles = []string{"vault.*", "identity.*"}

// homeFiles are the patterns of all that the program keeps there. Other files
// in a home are the operator's business.
var homeFiles = append([]string{"journal.*", "*.sock", "contracts", "contracts/*"}, ownFiles...)

// A ModeError says which modes or owners are too wide and how to mend them. It
// matches ErrModes.
type ModeError struct {
	Path    string // the first that was found
	Problem string // "has mode 0755, 0700 is the most it may have"
	Command string // mends all that were found, quoted for a POSIX shell
}

func (e *ModeError) Error() string {
	return fmt.Sprintf("%s %s; mend it with: %s", e.Path, e.Problem, e.Command)
}

// Is reports that a ModeError is an ErrModes.
func (e *ModeError) Is(target error) bool { return target == ErrModes }

// CheckModes returns a *ModeError when dir, or a file in it that is ours by
// name, belongs to another user, when a directory is wider than 0700, or a file
// or socket wider than 0600. What is not there is not wrong. Open, OpenIdentity
// and Create check the vault's own files by themselves.
func CheckModes(dir string) error { return checkModes(dir, homeFiles) }

func checkModes(dir string, patterns []string) error {
	found := &ModeError{}
	if err := found.check(dir); err != nil {
		return err
	}
	for _, pattern := range patterns {
		paths, err := globIn(dir, pattern)
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := found.check(path); err != nil {
				return err
			}
		}
	}
	if found.Command == "" {
		return nil
	}
	return found
}

// globIn is filepath.Glob without a meaning for the characters of dir.
func globIn(dir, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names, err
}

func (e *ModeError) check(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check modes: %w", err)
	}
	most := fs.FileMode(0o600)
	if info.IsDir() {
		most = 0o700
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		e.add(path, fmt.Sprintf("belongs to uid %d, not to you (%d)", uid, os.Geteuid()),
			fmt.Sprintf("sudo chown %d %s", os.Geteuid(), shellQuote(path)))
	}
	if mode := info.Mode().Perm(); mode&^most != 0 {
		e.add(path, fmt.Sprintf("has mode %#o, %#o is the most it may have", mode, most),
			fmt.Sprintf("chmod %o %s", most, shellQuote(path)))
	}
	return nil
}

func (e *ModeError) add(path, problem, command string) {
	if e.Command == "" {
		e.Path, e.Problem, e.Command = path, problem, command
		return
	}
	e.Command += " && " + command
}

// shellQuote makes one word of a path for a POSIX shell, whatever is in it.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// owner returns the uid that a file belongs to.
func owner(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
