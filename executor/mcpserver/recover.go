package mcpserver

import (
	"context"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Recover returns a receiving middleware that turns a panic in a handler into
// one failed call; without it the SDK lets the panic end the process, and with
// it every other session. The client gets -32603 and nothing of the panic. The
// operator gets all of it through report: the method, the value, and the stack
// of the goroutine. The value may quote what a client sent, and secrets.
//
// Add it first, so that it stands around all other middleware. report may be
// called from several goroutines at once and must not be nil. A panic in a
// goroutine that a handler started is beyond its reach.
func Recover(report func(method string, value any, stack []byte)) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
			defer func() {
				if value := recover(); value != nil {
					report(method, value, debug.Stack())
					res, err = nil, &jsonrpc.Error{Code: CodeInternal, Message: "internal error"}
				}
			}()
			return next(ctx, method, req)
		}
	}
}
