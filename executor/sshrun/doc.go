// Package sshrun runs one command or one file operation on one SSH host.
//
// The threats are a host that is not the one it seems to be, a password handed to
// whoever asks, a command that runs twice, and a call that hangs or claims an end
// that did not happen. So:
//
//   - Host keys come from the action alone (RFC 4253 section 8; certificates as in OpenSSH's
//     PROTOCOL.certkeys). A key that is not pinned ends the connection
//     before authentication; nothing here can accept or learn one.
//   - A password is given once, to one method, as the answer to one prompt that does not echo.
//   - Connections are pooled by hops, pinned keys and credential version. A broken one
//     is replaced before a command, never during one: after the exec request was sent nothing is
//     sent again.
//   - A user certificate is the only key that is shown where a credential has one; one that
//     is not valid now is not shown at all.
//   - Jump hosts are logged in to one by one, each with its own pinned keys and credential.
//   - Connect, handshake and command are bounded in time. A server that accepts and then
//     says nothing holds neither a lock nor a call.
//   - At the time limit, and when the caller cancels, the remote process is sent
//     TERM, then KILL (RFC 4254 section 6.9), then the channel is closed. Servers may ignore signals:
//     OpenSSH does for root's sessions and forced commands, and closing a channel kills
//     nothing. Unless the exit was seen the response says that the process may still run.
//     A limit: when this program itself is killed, nobody is signalled, and a remote
//     process that needs neither input nor output goes on.
//   - Every command is offered its activity's id in its environment (action.MarkerName), so
//     that its processes are found on the host; a server that takes no such name runs it
//     without.
//   - Files go by SFTP, version 3. A file is written beside its place, readable by its owner
//     only, and renamed: it appears whole or not at all. What is there is replaced only if it
//     is a regular file with the expected digest, looked at before the write and again before the rename.
//     Between that look and the rename another process may still change it.
//   - Exit code, signal and "the server said neither" are three answers.
//
// Output is drained whatever its size and order, and kept up to a bound. Text
// that the server sends (banners, disconnect messages, prompts) goes into no error.
//
// A password passes through a Go string, which golang.org/x/crypto/ssh asks for
// and which cannot be wiped; no connection keeps it after the login.
package sshrun
