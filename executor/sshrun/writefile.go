package sshrun

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"

	"github.com/pkg/sftp"

	"executor/internal/action"
)

// Extensions of OpenSSH's server (PROTOCOL, sections 4.3 and 4.6).
const (
	extRename = "posix-rename@openssh.com"
	extSync   = "fsync@openssh.com"
)

// write puts a file in its place whole: it is written under a temporary name in
// the same directory, readable by its owner only until it has its mode, and then
// renamed. What is there is looked at before anything is written and again before
// the rename; between that look and the rename another process may still change it.
func (c *fileCall) write() error {
	mode, err := c.check()
	if err != nil {
		return err
	}
	temp := path.Join(path.Dir(c.action.Path), ".executor-"+c.activity+".tmp")
	c.started()
	if err := c.fill(temp, mode); err != nil {
		c.discard(temp)
		return c.unwritten(err)
	}
	if _, err := c.check(); err != nil {
		c.discard(temp)
		return err
	}
	if err := c.place(temp); err != nil {
		var status *sftp.StatusError
		if errors.As(err, &status) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			c.discard(temp)
			return err
		}
		c.response.Note = "it is not known whether the file was put in place; what is there is the old or the new one, whole"
		return err
	}
	r := c.response
	r.Bytes, r.SHA256 = int64(len(c.action.Content.Bytes)), action.Sum(c.action.Content.Bytes)
	r.Info.Name, r.Info.Mode, r.Replaced = path.Base(c.action.Path), mode, c.action.Overwrite
	return nil
}

// check looks at what is there, and returns the mode that the new file is due.
func (c *fileCall) check() (fs.FileMode, error) {
	a := c.action
	info, err := c.files.Lstat(a.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !a.Overwrite:
		return c.mode(nil), nil
	case errors.Is(err, fs.ErrNotExist):
		return 0, c.problem("there is no %s on %s to overwrite; leave out overwrite and expected_sha256 to make a new file", a.Path, a.Host)
	case err != nil:
		return 0, err
	case info.IsDir():
		return 0, c.problem("%s on %s is a directory", a.Path, a.Host)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, c.problem("%s on %s is a symbolic link, which is not replaced; name the file that it points to", a.Path, a.Host)
	case !info.Mode().IsRegular():
		return 0, c.problem("%s on %s is not a regular file", a.Path, a.Host)
	case !a.Overwrite:
		return 0, c.problem("there is already a file %s on %s; to replace it, read it and give overwrite and its digest as expected_sha256", a.Path, a.Host)
	}
	if _, ok := c.files.HasExtension(extRename); !ok {
		return 0, unreachable("the server cannot replace a file in one step ("+extRename+"); nothing was done", nil)
	}
	return c.mode(info), c.compare()
}

func (c *fileCall) mode(there fs.FileInfo) fs.FileMode {
	if c.action.Mode == "" && there != nil {
		return there.Mode().Perm()
	}
	m, err := strconv.ParseUint(c.action.Mode, 8, 32)
	if err != nil {
		return 0o600
	}
	return fs.FileMode(m).Perm()
}

// compare refuses a file whose content is not the expected one.
func (c *fileCall) compare() error {
	f, err := c.files.Open(c.action.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := f.WriteTo(h); err != nil {
		return err
	}
	if there := "sha256:" + hex.EncodeToString(h.Sum(nil)); there != c.action.Expected {
		return c.problem("%s on %s is not the file that was expected: its digest is another; read it again", c.action.Path, c.action.Host)
	}
	return nil
}

// fill writes the temporary file.
func (c *fileCall) fill(temp string, mode fs.FileMode) error {
	f, err := c.files.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error { return f.Chmod(0o600) },
		func() error { _, err := f.Write(c.action.Content.Bytes); return err },
		func() error { return f.Chmod(mode) },
	}
	if _, ok := c.files.HasExtension(extSync); ok {
		steps = append(steps, f.Sync)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// place renames the temporary file. Without overwrite it uses the rename of SFTP
// version 3, which fails where something is (section 6.5 of the draft).
func (c *fileCall) place(temp string) error {
	if c.action.Overwrite {
		return c.files.PosixRename(temp, c.action.Path)
	}
	return c.files.Rename(temp, c.action.Path)
}

// discard removes the temporary file, or says that it may be left.
func (c *fileCall) discard(temp string) {
	if err := c.files.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.response.Note = "the file was not put in place, and " + temp + " may be left"
	}
}

// unwritten tells a directory that is not there from a file that is not.
func (c *fileCall) unwritten(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return c.problem("there is no directory %s on %s", path.Dir(c.action.Path), c.action.Host)
	}
	return err
}
