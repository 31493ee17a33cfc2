// Package e2e holds the acceptance tests: the built program, from outside.
//
// Nothing in it is simulated. TestMain builds cmd/executor once. A world is a
// temporary home with, as a test needs them, a serve on a pseudo-terminal or as a
// service, approve consoles on further pseudo-terminals, agents that are
// subprocesses "executor mcp" with the bare environment that MCP clients give,
// HTTP servers, and OpenSSH's sshd on a loopback port. Tests type what an operator
// would type and send the lines that an agent would send.
//
// Everything that comes out is kept: what each agent read, every standard output
// and error, and every byte painted on a terminal. When a test ends, all of it and
// every file of the home are searched for the secrets that the test planted, raw
// and in the usual encodings. With the race detector on, the program is built with it too, and a
// report of a race fails the test that caused it.
//
// testdata/cases holds the inputs of known failures of other tools, by case;
// testdata/hostkeys are throw-away keys. testdata/client.mjs drives the program
// with the MCP project's own TypeScript SDK, which is fetched from npm.
//
// Tests that need sshd, node or npm are skipped with the reason where one is missing, and
// fail there when CI=true. The one that starts an agent under another uid needs root.
package e2e
