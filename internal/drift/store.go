package drift

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Errors of a Store.
var (
	ErrNotFound  = errors.New("no such snapshot")
	ErrAmbiguous = errors.New("more than one snapshot begins like that")
	ErrDamaged   = errors.New("the file does not hold what its name says")
	ErrPinName   = errors.New("not a name for a pin")
)

// A Store is a directory of snapshots and pins, made for git: one snapshot per
// file under its hash, one pin per file under its name, no times, no order.
//
//	DIR/snapshots/sha256-7f3a….json    Snapshot.Encode
//	DIR/pins/github.json               {"contract": "sha256:…", "snapshot": "sha256:7f3a…"}
//
// Directories are made when something is put, with mode 0700, files with 0600.
// Every file is written beside its place, synced and renamed: a reader meets the
// old content or the new. Several processes may use one directory; of two that
// pin one name at once the later wins.
type Store struct{ Dir string }

func (s Store) snapshots() string { return filepath.Join(s.Dir, "snapshots") }

func fileOf(hash string) string { return strings.Replace(hash, ":", "-", 1) + ".json" }

// Put keeps a snapshot and returns its hash. Putting it again does nothing, and
// mends a damaged file.
func (s Store) Put(snap *Snapshot) (string, error) {
	hash := snap.Hash()
	if _, err := s.read(hash); err == nil {
		return hash, nil
	}
	raw, err := snap.Encode()
	if err != nil {
		return "", err
	}
	if err := writeFile(s.snapshots(), fileOf(hash), raw); err != nil {
		return "", fmt.Errorf("keep snapshot: %w", err)
	}
	return hash, nil
}

// Get finds a snapshot by its hash or the beginning of it, at least four hex
// digits, with or without "sha256:". Errors match ErrNotFound, ErrAmbiguous or ErrDamaged.
func (s Store) Get(ref string) (*Snapshot, error) {
	prefix := strings.TrimPrefix(ref, "sha256:")
	if len(prefix) < 4 || strings.Trim(prefix, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%w: %q is not the beginning of a hash", ErrNotFound, ref)
	}
	all, err := s.Hashes()
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(all, func(h string) bool { return !strings.HasPrefix(h, "sha256:"+prefix) })
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%w: %s", ErrNotFound, ref)
	case 1:
		return s.read(found[0])
	}
	return nil, fmt.Errorf("%w: %s: %s", ErrAmbiguous, ref, strings.Join(found, ", "))
}

func (s Store) read(hash string) (*Snapshot, error) {
	raw, err := readFile(filepath.Join(s.snapshots(), fileOf(hash)), MaxSnapshotBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, hash)
	}
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	snap, err := Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, hash, err)
	}
	if snap.Hash() != hash {
		return nil, fmt.Errorf("%w: %s holds %s", ErrDamaged, hash, snap.Hash())
	}
	return snap, nil
}

// Hashes lists the snapshots that are kept, sorted. An absent directory holds none.
func (s Store) Hashes() ([]string, error) {
	entries, err := os.ReadDir(s.snapshots())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var out []string
	for _, e := range entries {
		hex, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".json"), "sha256-")
		if ok && len(hex) == 64 && strings.HasSuffix(e.Name(), ".json") {
			out = append(out, "sha256:"+hex)
		}
	}
	return out, nil
}
