package sshrun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"executor/executor"
	"executor/executor/sshrun"
	"executor/internal/action"
)

// fileOp is an operation on the host of a command.
func fileOp(on *action.SSH, operation, path string) *action.File {
	return &action.File{
		Operation: operation, Host: on.Host, Hops: on.Hops, Path: path, Mode: "0644", Entries: 1000,
		Limits: action.Limits{Timeout: 20 * time.Second, MaxBytes: 1 << 20},
	}
}

type fileResult struct {
	*executor.FileResponse
	err     error
	started int
	took    time.Duration
}

func runFile(ctx context.Context, r *sshrun.Runner, a *action.File, l *executor.Lease) fileResult {
	n := 0
	begin := time.Now()
	l.Activity = "0198c0de"
	resp, err := r.Run(ctx, a, l, func() { n++ })
	out := fileResult{err: err, started: n, took: time.Since(begin)}
	out.FileResponse, _ = resp.(*executor.FileResponse)
	return out
}

// fails wants an error of this code with these words, and no secret in it.
func (r fileResult) fails(t *testing.T, started int, code executor.Code, words ...string) {
	t.Helper()
	var e *executor.RunError
	if !errors.As(r.err, &e) || e.Code != code || r.started != started {
		t.Fatalf("err %v, started %d; want %s, started %d", r.err, r.started, code, started)
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("message %q has no %q", e.Message, w)
		}
	}
}

func TestFilesOnARealServer(t *testing.T) {
	addr, login := sshd(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	on := command(addr, login, "", l, pin(hostSigner(t, "host_ed25519")))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put := func(t *testing.T, name, content string, mode fs.FileMode) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(t *testing.T, name, content string, mode fs.FileMode) {
		t.Helper()
		got, err := os.ReadFile(at(name))
		if err != nil || string(got) != content {
			t.Errorf("%s holds %.60q, %v", name, got, err)
		}
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
	do := func(t *testing.T, operation, name string, change func(*action.File)) fileResult {
		a := fileOp(on, operation, at(name))
		if change != nil {
			change(a)
		}
		return runFile(t.Context(), r, a, l)
	}

	t.Run("read", func(t *testing.T) {
		big := strings.Repeat("0123456789abcdef", 100_000)
		put(t, "text", "é\n", 0o640)
		put(t, "empty", "", 0o600)
		put(t, "big", big, 0o600)
		if err := os.Symlink("text", at("link")); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"text": "é\n", "empty": "", "link": "é\n"} {
			got := do(t, action.ReadFile, name, nil)
			if got.err != nil || string(got.Content) != content || got.SHA256 != action.Sum([]byte(content)) || got.Truncated || got.started != 1 {
				t.Errorf("%s: %v %+v", name, got.err, got.FileResponse)
			}
		}
		for max, whole := range map[int]bool{len(big): true, len(big) - 1: false, 1: false} {
			got := do(t, action.ReadFile, "big", func(a *action.File) { a.Limits.MaxBytes = max })
			if got.err != nil || string(got.Content) != big[:max] || got.Truncated == whole || (got.SHA256 != "") != whole || got.Info.Size != int64(len(big)) {
				t.Errorf("up to %d: %v, %d bytes, truncated %v, digest %q", max, got.err, len(got.Content), got.Truncated, got.SHA256)
			}
		}
		a := fileOp(on, action.ReadFile, "/proc/version") // says that it has no bytes
		if got := runFile(t.Context(), r, a, l); got.err != nil || !strings.Contains(string(got.Content), "Linux") {
			t.Errorf("/proc/version: %v", got.err)
		}
	})
	t.Run("what cannot be read", func(t *testing.T) {
		if err := syscall.Mkfifo(at("fifo"), 0o600); err != nil {
			t.Fatal(err)
		}
		do(t, action.ReadFile, "missing", nil).fails(t, 0, executor.InvalidArguments, "there is no "+at("missing"), "nothing was done")
		do(t, action.ReadFile, "", nil).fails(t, 0, executor.InvalidArguments, "is a directory", "ssh_list_dir")
		do(t, action.ReadFile, "fifo", nil).fails(t, 0, executor.InvalidArguments, "not a regular file")
	})
	t.Run("list", func(t *testing.T) {
		sub := at("list")
		if err := os.MkdirAll(filepath.Join(sub, "dir"), 0o750); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"b", "a\xff", "c\n"} {
			if err := os.WriteFile(filepath.Join(sub, name), []byte("xy"), 0o604); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("/nowhere", filepath.Join(sub, "gone")); err != nil {
			t.Fatal(err)
		}
		got := do(t, action.ListDir, "list", nil)
		var names []string
		for _, e := range got.Entries {
			names = append(names, fmt.Sprintf("%q %s %d", e.Name, e.Mode.Type(), e.Size))
		}
		if got.err != nil || got.Total != 5 || !strings.HasPrefix(strings.Join(names, ","), `"a\xff" ---------- 2,"b" ---------- 2,"c\n" ---------- 2,"dir" d---------`) || !strings.HasPrefix(names[4], `"gone" L`) {
			t.Errorf("%v %q", got.err, names)
		}
		if cut := do(t, action.ListDir, "list", func(a *action.File) { a.Entries = 2 }); len(cut.Entries) != 2 || cut.Total != 5 {
			t.Errorf("%+v", cut.FileResponse)
		}
		do(t, action.ListDir, "list/b", nil).fails(t, 0, executor.InvalidArguments, "is not a directory")
		do(t, action.ListDir, "missing", nil).fails(t, 0, executor.InvalidArguments, "there is no")
	})
	t.Run("write", func(t *testing.T) {
		write := func(name, content string, change func(*action.File)) fileResult {
			return do(t, action.WriteFile, name, func(a *action.File) {
				a.Content.Bytes = []byte(content)
				if change != nil {
					change(a)
				}
			})
		}
		over := func(old string) func(*action.File) {
			return func(a *action.File) { a.Overwrite, a.Expected, a.Mode = true, action.Sum([]byte(old)), "" }
		}
		if err := os.Mkdir(at("w"), 0o700); err != nil {
			t.Fatal(err)
		}
		got := write("w/new", "one\n", func(a *action.File) { a.Mode = "0666" }) // whatever the umask
		if got.err != nil || got.Bytes != 4 || got.SHA256 != action.Sum([]byte("one\n")) || got.Replaced || got.started != 1 {
			t.Errorf("new: %v %+v", got.err, got.FileResponse)
		}
		holds(t, "w/new", "one\n", 0o666)
		write("w/new", "two", nil).fails(t, 0, executor.InvalidArguments, "there is already a file", "nothing was done")
		write("w/new", "two", over("other")).fails(t, 0, executor.InvalidArguments, "its digest is another", "nothing was done")
		holds(t, "w/new", "one\n", 0o666)
		if got := write("w/new", "two", over("one\n")); got.err != nil || !got.Replaced || got.Info.Mode != 0o666 {
			t.Errorf("overwrite: %v %+v", got.err, got.FileResponse)
		}
		holds(t, "w/new", "two", 0o666)
		if got := write("w/new", "", func(a *action.File) { over("two")(a); a.Mode = "0600" }); got.err != nil {
			t.Errorf("overwrite with a mode: %v", got.err)
		}
		holds(t, "w/new", "", 0o600)
		write("w/missing", "x", over("x")).fails(t, 0, executor.InvalidArguments, "to overwrite")
		write("no/dir", "x", nil).fails(t, 1, executor.InvalidArguments, "there is no directory")
		put(t, "target", "kept", 0o600)
		if err := os.Symlink("target", at("w/link")); err != nil {
			t.Fatal(err)
		}
		write("w/link", "x", over("kept")).fails(t, 0, executor.InvalidArguments, "symbolic link")
		write("w/link", "x", nil).fails(t, 0, executor.InvalidArguments, "symbolic link")
		write("w", "x", nil).fails(t, 0, executor.InvalidArguments, "is a directory")
		holds(t, "target", "kept", 0o600)
		noLeftovers(t, at("w"), "link", "new")
	})
	t.Run("a file appears whole", func(t *testing.T) {
		contents := []string{strings.Repeat("a", 3<<20), strings.Repeat("b", 2<<20)}
		put(t, "whole", contents[0], 0o644)
		stop, done := make(chan struct{}), make(chan string, 1)
		go func() {
			for {
				b, err := os.ReadFile(at("whole"))
				if s := string(b); err != nil || s != contents[0] && s != contents[1] {
					done <- fmt.Sprintf("%v, %d bytes", err, len(b))
					return
				}
				select {
				case <-stop:
					done <- ""
					return
				default:
				}
			}
		}()
		for i := range 4 {
			got := do(t, action.WriteFile, "whole", func(a *action.File) {
				a.Content.Bytes, a.Overwrite, a.Expected = []byte(contents[(i+1)%2]), true, action.Sum([]byte(contents[i%2]))
			})
			if got.err != nil {
				t.Error(got.err)
			}
		}
		close(stop)
		if seen := <-done; seen != "" {
			t.Errorf("a reader saw something in between: %s", seen)
		}
	})
	t.Run("of two that make one file one succeeds", func(t *testing.T) {
		var wg sync.WaitGroup
		var mu sync.Mutex
		ok := 0
		for i := range 8 {
			wg.Go(func() {
				one := keyLease(t)
				a := fileOp(on, action.WriteFile, at("race"))
				a.Content.Bytes = bytes.Repeat([]byte{byte('a' + i)}, 100_000)
				one.Activity = fmt.Sprint(i)
				if _, err := r.Run(t.Context(), a, one, func() {}); err == nil {
					mu.Lock()
					ok++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if b, err := os.ReadFile(at("race")); ok != 1 || err != nil || len(b) != 100_000 || strings.Trim(string(b), string(b[:1])) != "" {
			t.Errorf("%d writers succeeded; the file has %d bytes, %v", ok, len(b), err)
		}
	})
}

// noLeftovers wants exactly these names in a directory.
func noLeftovers(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
