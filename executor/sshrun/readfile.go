package sshrun

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"executor/executor"
	"executor/internal/action"
)

const readChunk = 256 << 10

// read reads the beginning of a regular file, and its digest if that was all.
func (c *fileCall) read() error {
	info, err := c.files.Stat(c.action.Path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return c.problem("%s on %s is a directory; ssh_list_dir lists it", c.action.Path, c.action.Host)
	case !info.Mode().IsRegular():
		return c.problem("%s on %s is not a regular file", c.action.Path, c.action.Host)
	}
	c.response.Info = describe(info)
	f, err := c.files.Open(c.action.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	c.started()
	r := c.response
	r.Content, r.Truncated, err = readBounded(f, c.action.Limits.MaxBytes)
	if err != nil {
		return err
	}
	if r.Bytes = int64(len(r.Content)); !r.Truncated {
		r.SHA256 = action.Sum(r.Content)
	}
	return nil
}

// readBounded reads at most max bytes, and says whether there was more. It asks
// for large pieces, which the client fetches in parallel.
func readBounded(r io.Reader, max int) (content []byte, more bool, err error) {
	for err == nil && len(content) <= max {
		n := min(readChunk, max+1-len(content))
		content = slices.Grow(content, n)
		n, err = io.ReadFull(r, content[len(content):len(content)+n])
		content = content[:len(content)+n]
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	if len(content) > max {
		return content[:max], true, err
	}
	return content, false, err
}

// list lists a directory.
func (c *fileCall) list(ctx context.Context) error {
	info, err := c.files.Stat(c.action.Path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return c.problem("%s on %s is not a directory; ssh_read_file reads files", c.action.Path, c.action.Host)
	}
	c.started()
	all, err := c.files.ReadDirContext(ctx, c.action.Path)
	if err != nil && c.from.exceeded.Load() {
		return c.problem("%s on %s has too many names to be listed; ssh_exec can run a command that chooses some", c.action.Path, c.action.Host)
	}
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	c.response.Total = len(all)
	for _, one := range all[:min(len(all), c.action.Entries)] {
		c.response.Entries = append(c.response.Entries, describe(one))
	}
	return nil
}

func describe(i fs.FileInfo) executor.FileInfo {
	return executor.FileInfo{Name: i.Name(), Size: i.Size(), Mode: i.Mode(), Modified: i.ModTime()}
}
