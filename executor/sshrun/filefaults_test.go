package sshrun_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/executor/sshrun"
	"executor/internal/action"
)

// An sftpServer serves files in memory and can be told to fail.
type sftpServer struct {
	sftp.Handlers
	before func(method, path string) error // nil goes on
}

func newSFTP(s *server) *sftpServer {
	f := &sftpServer{Handlers: sftp.InMemHandler()}
	s.subsystem = func(ch ssh.Channel) {
		served := sftp.NewRequestServer(ch, sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: f})
		served.Serve()
		ch.Close()
	}
	return f
}

func (f *sftpServer) check(r *sftp.Request) error {
	if f.before == nil {
		return nil
	}
	return f.before(r.Method, r.Filepath)
}

func (f *sftpServer) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	if err := f.check(r); err != nil {
		return nil, err
	}
	return f.FileGet.Fileread(r)
}

func (f *sftpServer) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	if err := f.check(r); err != nil {
		return nil, err
	}
	return f.FilePut.Filewrite(r)
}

func (f *sftpServer) Filecmd(r *sftp.Request) error {
	if err := f.check(r); err != nil {
		return err
	}
	return f.FileCmd.Filecmd(r)
}

func (f *sftpServer) PosixRename(r *sftp.Request) error {
	if err := f.check(r); err != nil {
		return err
	}
	return f.FileCmd.(sftp.PosixRenameFileCmder).PosixRename(r)
}

func (f *sftpServer) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	if err := f.check(r); err != nil {
		return nil, err
	}
	return f.FileList.Filelist(r)
}

func (f *sftpServer) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	if err := f.check(r); err != nil {
		return nil, err
	}
	return f.FileList.(sftp.LstatFileLister).Lstat(r)
}

// has reports whether a file is there, asking past the faults.
func (f *sftpServer) has(path string) bool {
	_, err := f.FileGet.Fileread(sftp.NewRequest("Get", path))
	return err == nil
}

func faultyFiles(t *testing.T) (*server, *sftpServer, *sshrun.Runner, *executor.Lease, *action.SSH) {
	t.Helper()
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	f := newSFTP(s)
	addr := s.start(t)
	l := keyLease(t)
	return s, f, runner(t, sshrun.Config{}), l, command(addr, "u", "x", l, pin(key))
}

func TestNoSFTP(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	on := command(addr, "u", "x", l, pin(key))
	runFile(t.Context(), r, fileOp(on, action.ReadFile, "/x"), l).fails(t, 0, executor.UpstreamUnreachable, "offers no SFTP", "nothing was done")
	run(t.Context(), r, on, l).ok(t, "ran x\n")
}

// A server that says nothing holds neither the call nor the connection's other users.
func TestASilentFileServerHoldsNobody(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	s.subsystem = func(ch ssh.Channel) { io.Copy(io.Discard, ch) }
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	on := command(addr, "u", "x", l, pin(key))
	a := fileOp(on, action.ReadFile, "/x")
	a.Limits.Timeout = 500 * time.Millisecond
	got := runFile(t.Context(), r, a, l)
	got.fails(t, 0, executor.UpstreamTimeout, "did not end within 500ms", "nothing was done")
	if got.took > 4*time.Second {
		t.Errorf("took %s", got.took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	got = runFile(ctx, r, fileOp(on, action.ReadFile, "/x"), l)
	got.fails(t, 0, executor.CallCancelled, "nothing was done")
	run(t.Context(), r, on, l).ok(t, "ran x\n")
}

func TestAServersWordsAreNotRepeated(t *testing.T) {
	_, f, r, l, on := faultyFiles(t)
	for err, code := range map[error]executor.Code{
		fmt.Errorf("%s", canary):      executor.UpstreamUnreachable,
		sftp.ErrSSHFxPermissionDenied: executor.InvalidArguments,
		sftp.ErrSSHFxNoSuchFile:       executor.InvalidArguments,
	} {
		f.before = func(string, string) error { return err }
		for _, op := range []string{action.ReadFile, action.ListDir} {
			got := runFile(t.Context(), r, fileOp(on, op, "/x"), l)
			got.fails(t, 0, code, "/x on web-1")
			if strings.Contains(fmt.Sprintf("%v %+v", got.err, got.FileResponse), canary) {
				t.Errorf("the server's words are in the error: %v", got.err)
			}
		}
	}
}

func TestAWriteThatFailsLeavesNothing(t *testing.T) {
	_, f, r, l, on := faultyFiles(t)
	for _, method := range []string{"Setstat", "Rename"} {
		f.before = func(m, _ string) error {
			if m == method {
				return sftp.ErrSSHFxFailure
			}
			return nil
		}
		a := fileOp(on, action.WriteFile, "/x")
		a.Content.Bytes = []byte("content")
		runFile(t.Context(), r, a, l).fails(t, 1, executor.UpstreamUnreachable, "refused to write /x", "was not put in place")
		if f.has("/x") || f.has("/.executor-0198c0de.tmp") {
			t.Errorf("%s: something is left", method)
		}
	}
}

// The connection ends while the file is put in place: it is not known what is
// there, and nothing is sent again.
func TestAWriteThatIsCutOffSaysSo(t *testing.T) {
	for method, words := range map[string]string{"Rename": "it is not known whether the file was put in place", "Setstat": "/.executor-0198c0de.tmp may be left"} {
		s, f, r, l, on := faultyFiles(t)
		var n atomic.Int32
		f.before = func(m, _ string) error {
			if m == method {
				n.Add(1)
				s.dropAll()
			}
			return nil
		}
		a := fileOp(on, action.WriteFile, "/x")
		a.Content.Bytes = []byte("content")
		got := runFile(t.Context(), r, a, l)
		got.fails(t, 1, executor.UpstreamUnreachable, "connection was lost", words)
		if got.Note == "" || n.Load() != 1 {
			t.Errorf("%s: note %q, sent %d times", method, got.Note, n.Load())
		}
	}
}

// The file changes between the look before the write and the one before the rename.
func TestAFileThatChangesMeanwhileIsNotReplaced(t *testing.T) {
	_, f, r, l, on := faultyFiles(t)
	set := func(content string) {
		w, err := f.FilePut.Filewrite(&sftp.Request{Method: "Put", Filepath: "/x", Flags: 0x1a}) // write, create, truncate
		if err == nil {
			_, err = w.WriteAt([]byte(content), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	set("old")
	f.before = func(m, path string) error {
		if m == "Setstat" {
			set("changed")
		}
		return nil
	}
	a := fileOp(on, action.WriteFile, "/x")
	a.Content.Bytes, a.Overwrite, a.Expected = []byte("new"), true, action.Sum([]byte("old"))
	runFile(t.Context(), r, a, l).fails(t, 1, executor.InvalidArguments, "its digest is another")
	f.before = nil
	got := runFile(t.Context(), r, fileOp(on, action.ReadFile, "/x"), l)
	if string(got.Content) != "changed" || f.has("/.executor-0198c0de.tmp") {
		t.Errorf("the file holds %q; temporary file left: %v", got.Content, f.has("/.executor-0198c0de.tmp"))
	}
}

// endless lists names without end.
type endless struct{ fs.FileInfo }

func (endless) ListAt(list []os.FileInfo, at int64) (int, error) {
	for i := range list {
		list[i] = named(fmt.Sprintf("%d%s", at+int64(i), strings.Repeat("x", 200)))
	}
	return len(list), nil
}

type named string

func (n named) Name() string     { return string(n) }
func (named) Size() int64        { return 0 }
func (named) Mode() fs.FileMode  { return 0o600 }
func (named) ModTime() time.Time { return time.Time{} }
func (named) IsDir() bool        { return false }
func (named) Sys() any           { return nil }

type endlessServer struct{ *sftpServer }

func (e endlessServer) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	if r.Method == "List" {
		return endless{}, nil
	}
	return e.sftpServer.Filelist(r)
}

func TestAnEndlessListingIsCutOff(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	f := newSFTP(s)
	s.subsystem = func(ch ssh.Channel) {
		sftp.NewRequestServer(ch, sftp.Handlers{FileGet: f, FilePut: f, FileCmd: f, FileList: endlessServer{f}}).Serve()
		ch.Close()
	}
	addr := s.start(t)
	r, l := runner(t, sshrun.Config{}), keyLease(t)
	a := fileOp(command(addr, "u", "x", l, pin(key)), action.ListDir, "/")
	runFile(t.Context(), r, a, l).fails(t, 1, executor.InvalidArguments, "too many names")
}

// A frozen connection lets nothing through to its reader until it is closed.
type frozen struct {
	net.Conn
	ice    chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (f *frozen) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	select {
	case <-f.ice:
		<-f.closed
		return 0, net.ErrClosed
	default:
		return n, err
	}
}

func (f *frozen) Close() error {
	f.once.Do(func() { close(f.closed) })
	return f.Conn.Close()
}

// The other end is gone without a word while a file is read: not even the end of
// the session is answered.
func TestAFrozenConnectionIsGivenUp(t *testing.T) {
	key := hostSigner(t, "host_ed25519")
	s := newServer(t, key)
	ice := make(chan struct{})
	s.subsystem = func(ch ssh.Channel) {
		io.ReadFull(ch, make([]byte, 9)) // the client's first packet
		close(ice)
		io.Copy(io.Discard, ch)
	}
	addr := s.start(t)
	dials := 0
	r, l := runner(t, sshrun.Config{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := new(net.Dialer).DialContext(ctx, network, address)
		if dials++; dials > 1 || err != nil {
			return nc, err
		}
		return &frozen{Conn: nc, ice: ice, closed: make(chan struct{})}, nil
	}}), keyLease(t)
	on := command(addr, "u", "x", l, pin(key))
	a := fileOp(on, action.ReadFile, "/x")
	a.Limits.Timeout = 500 * time.Millisecond
	got := runFile(t.Context(), r, a, l)
	got.fails(t, 0, executor.UpstreamTimeout, "did not end within 500ms")
	if got.took > 4*time.Second {
		t.Errorf("took %s", got.took)
	}
	run(t.Context(), r, on, l).ok(t, "ran x\n")
	if dials != 2 {
		t.Errorf("%d connections, want a second one", dials)
	}
}
