package drift

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"executor/internal/strictjson"
)

// A Pin is the snapshot that a name stands for.
type Pin struct {
	Name     string `json:"-"`
	Contract string `json:"contract"` // the contract hash, so that a reader of a commit sees which kind of change it is
	Snapshot string `json:"snapshot"`
}

const maxPinBytes = 4096

func (s Store) pins() string { return filepath.Join(s.Dir, "pins") }

// pinName wants letters, digits, point, line and dash, at most 64, no point first.
func pinName(name string) error {
	ok := name != "" && len(name) <= 64 && name[0] != '.' && name[0] != '-'
	for _, r := range name {
		ok = ok && (r == '.' || r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}
	if !ok {
		return fmt.Errorf("%w: %q", ErrPinName, name)
	}
	return nil
}

// SetPin lets a name stand for a snapshot that is kept; ref is as for Get.
func (s Store) SetPin(name, ref string) (Pin, error) {
	if err := pinName(name); err != nil {
		return Pin{}, err
	}
	snap, err := s.Get(ref)
	if err != nil {
		return Pin{}, err
	}
	pin := Pin{name, snap.ContractHash(), snap.Hash()}
	raw, err := json.MarshalIndent(pin, "", "  ")
	if err != nil {
		return Pin{}, fmt.Errorf("write pin: %w", err)
	}
	if err := writeFile(s.pins(), name+".json", append(raw, '\n')); err != nil {
		return Pin{}, fmt.Errorf("write pin: %w", err)
	}
	return pin, nil
}

// Pin reads one pin. The error matches ErrNotFound, ErrPinName or ErrDamaged.
func (s Store) Pin(name string) (Pin, error) {
	if err := pinName(name); err != nil {
		return Pin{}, err
	}
	raw, err := readFile(filepath.Join(s.pins(), name+".json"), maxPinBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Pin{}, fmt.Errorf("%w: nothing is pinned as %s", ErrNotFound, name)
	}
	if err != nil {
		return Pin{}, fmt.Errorf("read pin: %w", err)
	}
	pin := Pin{Name: name}
	if err := strictjson.Decode(raw, &pin); err != nil {
		return Pin{}, fmt.Errorf("%w: pin %s: %w", ErrDamaged, name, err)
	}
	if !strings.HasPrefix(pin.Snapshot, "sha256:") {
		return Pin{}, fmt.Errorf("%w: pin %s names no snapshot", ErrDamaged, name)
	}
	return pin, nil
}

// Pinned reads the snapshot that a name stands for.
func (s Store) Pinned(name string) (*Snapshot, error) {
	pin, err := s.Pin(name)
	if err != nil {
		return nil, err
	}
	return s.Get(pin.Snapshot)
}

// Pins lists all pins by name. A file that is none is an error.
func (s Store) Pins() ([]Pin, error) {
	entries, err := os.ReadDir(s.pins())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list pins: %w", err)
	}
	var out []Pin
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || pinName(name) != nil {
			continue
		}
		pin, err := s.Pin(name)
		if err != nil {
			return nil, err
		}
		out = append(out, pin)
	}
	return out, nil
}

// Unpin forgets a pin; the snapshot stays.
func (s Store) Unpin(name string) error {
	if err := pinName(name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(s.pins(), name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: nothing is pinned as %s", ErrNotFound, name)
	}
	if err != nil {
		return fmt.Errorf("remove pin: %w", err)
	}
	return syncDir(s.pins())
}
