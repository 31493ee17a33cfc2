// Package watchlist remembers which MCP servers an operator compares, how each is
// reached, and which snapshot of it was read last.
//
// A registration saves typing. It widens nothing for an agent: no agent reaches
// it, and it is used when the operator types a command with the server's name. It
// holds no secret: a credential is named, and where that may be sent is sealed in
// the vault. But a command of a registration is run with the operator's own rights,
// so whoever can write the directory chooses what runs there. Treat it as you treat
// a Makefile, most of all in CI: "the registrations of a pull request" are a program
// of whoever wrote that.
//
// # Files
//
// Plain JSON, made for git: one file a server, no times, no order.
//
//	DIR/servers/github.json   {"stdio": ["github-mcp", "--read-only"]}
//	DIR/servers/tickets.json  {"http": "https://mcp.example.com/mcp", "credential": "tickets"}
//	DIR/seen/github.json      {"snapshot": "sha256:7f3a…"}
//
// Directories have mode 0700 and files 0600. A file that says anything else is
// refused (ErrDamaged); so are files above 64 KiB.
package watchlist

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"executor/internal/strictjson"
)

// Errors of a List.
var (
	ErrNotFound = errors.New("no such server is registered")
	ErrExists   = errors.New("a server of that name is registered")
	ErrDamaged  = errors.New("the file says something else than it may")
	ErrName     = errors.New("not a name for a server")
	ErrUnseen   = errors.New("it was never read")
)

// A Server is how one is reached: by a command, or by a URL.
type Server struct {
	Name       string   `json:"-"`
	Stdio      []string `json:"stdio,omitempty"` // command and arguments
	HTTP       string   `json:"http,omitempty"`
	Credential string   `json:"credential,omitempty"` // name in the vault; with HTTP only
}

// Check refuses a server that could not be reached as it stands.
func (s Server) Check() error {
	switch {
	case (len(s.Stdio) > 0) == (s.HTTP != ""):
		return errors.New("a command or a URL is due, and not both")
	case len(s.Stdio) > 0 && s.Stdio[0] == "":
		return errors.New("the command is empty")
	case s.Credential != "" && s.HTTP == "":
		return errors.New("a credential goes with a URL; a command gets none")
	}
	return nil
}

// A List is a directory of registrations. Several processes may use one.
type List struct{ Dir string }

const maxFile = 64 << 10

// nameRE begins with a letter or digit, so that no name is a flag or a hidden file.
var nameRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckName refuses what could not name a file, a pin or an argument.
func CheckName(name string) error {
	if !nameRE.MatchString(name) {
		return fmt.Errorf("%w: %q; 1 to 64 letters, digits, '.', '_' and '-' are due, a letter or digit first", ErrName, name)
	}
	return nil
}

func (l List) server(name string) string { return filepath.Join(l.Dir, "servers", name+".json") }
func (l List) seen(name string) string   { return filepath.Join(l.Dir, "seen", name+".json") }

// Add registers a server. The error matches ErrExists or ErrName.
func (l List) Add(s Server) error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if _, err := os.Lstat(l.server(s.Name)); err == nil {
		return fmt.Errorf("%s: %w", s.Name, ErrExists)
	}
	return write(l.server(s.Name), s)
}

// Server reads one registration. The error matches ErrNotFound, ErrName or ErrDamaged.
func (l List) Server(name string) (Server, error) {
	s := Server{Name: name}
	if err := CheckName(name); err != nil {
		return s, err
	}
	err := read(l.server(name), &s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, fmt.Errorf("%s: %w", name, ErrNotFound)
	case err != nil:
		return s, err
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("%s: %w: %w", l.server(name), ErrDamaged, err)
	}
	return s, nil
}

// Servers reads all registrations, by name. Where there is no directory there are none.
func (l List) Servers() ([]Server, error) {
	entries, err := os.ReadDir(filepath.Join(l.Dir, "servers"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Server
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		s, err := l.Server(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Remove forgets a registration. Pins and snapshots stay.
func (l List) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	err := os.Remove(l.server(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return err
}

type sight struct {
	Snapshot string `json:"snapshot"`
}

// Seen returns the hash of the snapshot that was read last under a name, which need
// not be registered. The error matches ErrUnseen, ErrName or ErrDamaged.
func (l List) Seen(name string) (string, error) {
	var s sight
	if err := CheckName(name); err != nil {
		return "", err
	}
	err := read(l.seen(name), &s)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", name, ErrUnseen)
	}
	return s.Snapshot, err
}

// SetSeen remembers the hash of the snapshot that was just read under a name.
func (l List) SetSeen(name, hash string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return write(l.seen(name), sight{hash})
}

func read(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if len(raw) > maxFile {
		return fmt.Errorf("%s: %w: more than %d bytes", path, ErrDamaged, maxFile)
	}
	if err := strictjson.Decode(raw, into); err != nil {
		return fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return nil
}

// write puts a file into its place whole.
func write(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
