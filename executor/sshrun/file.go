package sshrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/pkg/sftp"

	"executor/executor"
	"executor/internal/action"
)

// A fileCall is one Run of a file operation.
type fileCall struct {
	action   *action.File
	activity string
	caller   context.Context
	started  func()
	begun    bool // what changes or tells something was sent
	response *executor.FileResponse
	files    *sftp.Client
	from     answers
}

func (r *Runner) runFile(ctx context.Context, f *action.File, l *executor.Lease, started func()) (executor.Response, error) {
	leases, err := leasesOf(f.Hops, l)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, f.Limits.Timeout)
	defer cancel()
	c := &fileCall{action: f, activity: l.Activity, caller: ctx, response: &executor.FileResponse{Facts: map[string]any{}}}
	c.started = sync.OnceFunc(func() { c.begun = true; started() })
	err = r.file(limited, c, leases)
	c.response.Duration = time.Since(begin)
	if err != nil {
		return c.response, c.failure(limited, err)
	}
	return c.response, nil
}

func (r *Runner) file(ctx context.Context, c *fileCall, leases []*executor.Lease) error {
	sess, err := r.session(ctx, c.action.Hops, leases)
	if err != nil {
		return err
	}
	defer sess.release()
	sess.describe(c.response.Facts)
	if c.action.Operation == action.ListDir {
		c.from.max = maxListing
	}
	files, done, err := sess.files(ctx, &c.from)
	if err != nil {
		return err
	}
	defer done()
	c.files = files
	switch c.action.Operation {
	case action.ReadFile:
		return c.read()
	case action.ListDir:
		return c.list(ctx)
	case action.WriteFile:
		return c.write()
	}
	return internal("a file operation that is not known")
}

// problem is something about the file that the caller can mend.
func (c *fileCall) problem(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if !c.begun {
		text += "; nothing was done"
	}
	return &executor.RunError{Code: executor.InvalidArguments, Message: text}
}

// failure puts err into words. What the server said is not among them.
func (c *fileCall) failure(ctx context.Context, err error) *executor.RunError {
	var own *executor.RunError
	var status *sftp.StatusError
	where := fmt.Sprintf("%s on %s", c.action.Path, c.action.Host)
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(c.caller.Err(), context.Canceled):
		return &executor.RunError{Code: executor.CallCancelled, Message: "cancelled by the caller; " + c.extent()}
	case ctx.Err() != nil:
		return &executor.RunError{Code: executor.UpstreamTimeout, Message: fmt.Sprintf("the file operation did not end within %s; %s", c.action.Limits.Timeout, c.extent())}
	case errors.Is(err, fs.ErrNotExist):
		return c.problem("there is no %s", where).(*executor.RunError)
	case errors.Is(err, fs.ErrPermission):
		return c.problem("the user there may not %s %s", c.action.Operation, where).(*executor.RunError)
	case errors.As(err, &status):
		return unreachable(fmt.Sprintf("the server refused to %s %s (SFTP status %d); %s", c.action.Operation, where, status.Code, c.extent()), nil)
	}
	return unreachable("the connection was lost; "+c.extent(), err)
}

// extent says what is known of the effect.
func (c *fileCall) extent() string {
	switch {
	case c.response.Note != "":
		return c.response.Note
	case c.begun && !c.action.Reads():
		return "the file was not put in place"
	case c.begun:
		return "nothing was changed"
	}
	return "nothing was done"
}
