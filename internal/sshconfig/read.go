package sshconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// Bounds of what is read.
const (
	maxDepth = 16
	maxBytes = 4 << 20
)

// A Config is one configuration with the files that it includes. It is immutable.
type Config struct {
	// LeftOut names blocks and lines that were not taken, as file:line.
	LeftOut []string

	parsed *ssh_config.Config
	home   string
	user   string
}

// Read reads a file and what it includes. home is the user's home directory, which
// "~" stands for; user is who logs in where no User is given.
func Read(file, home, user string) (*Config, error) {
	r := &reader{home: home}
	if err := r.file(file, 0); err != nil {
		return nil, err
	}
	parsed, err := ssh_config.DecodeBytes(r.out.Bytes())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &Config{LeftOut: r.leftOut, parsed: parsed, home: home, user: user}, nil
}

// A reader makes one text of a file and its includes.
type reader struct {
	home    string
	out     bytes.Buffer
	leftOut []string
}

// file adds a file. Each begins, and goes on after an Include, outside of any block.
func (r *reader) file(name string, depth int) error {
	data, err := os.ReadFile(name)
	switch {
	case err != nil:
		return err
	case depth > maxDepth:
		return fmt.Errorf("%s: files are included more than %d deep", name, maxDepth)
	case r.out.Len()+len(data) > maxBytes:
		return errors.New("the configuration has more than 4 MiB")
	}
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	inHost, skip := false, false
	for i, line := range strings.Split(string(data), "\n") {
		at := fmt.Sprintf("%s:%d", name, i+1)
		keyword, value := split(line)
		switch keyword {
		case "host":
			inHost, skip = true, false
		case "match":
			inHost, skip = true, !strings.EqualFold(value, "all")
			if skip {
				r.leftOut = append(r.leftOut, at+": the block under Match "+value)
			}
		case "include":
			if err := r.include(value, at, inHost, depth); err != nil {
				return err
			}
			continue
		}
		if !skip {
			r.out.WriteString(line + "\n")
		}
	}
	return nil
}

func (r *reader) include(value, at string, inHost bool, depth int) error {
	if inHost {
		r.leftOut = append(r.leftOut, at+": Include inside a block")
		return nil
	}
	for _, pattern := range strings.Fields(strings.ReplaceAll(value, `"`, "")) {
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
			pattern = filepath.Join(r.home, rest)
		} else if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(r.home, ".ssh", pattern)
		}
		files, err := filepath.Glob(pattern)
		if err != nil {
			return fmt.Errorf("%s: Include %s: %w", at, pattern, err)
		}
		for _, f := range files {
			if err := r.file(f, depth+1); err != nil {
				return err
			}
			r.out.WriteString("Host *\n")
		}
	}
	return nil
}

// split gives a line's keyword in lower case and the rest, "" for a comment.
func split(line string) (keyword, value string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", ""
	}
	end := strings.IndexAny(line, " \t=")
	if end < 0 {
		return strings.ToLower(line), ""
	}
	return strings.ToLower(line[:end]), strings.TrimSpace(strings.TrimLeft(line[end:], " \t="))
}
