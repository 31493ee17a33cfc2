package sshrun

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

var errScanned = errors.New("host key seen")

// scanned lists one algorithm per type of key that a server may have.
var scanned = [][]string{
	{ssh.KeyAlgoED25519},
	{ssh.KeyAlgoECDSA256}, {ssh.KeyAlgoECDSA384}, {ssh.KeyAlgoECDSA521},
	{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// ScanHostKeys asks the server at addr (host:port) for its host keys of every
// type, without logging in, and returns them as pins ("ssh-ed25519 AAAA…"), sorted. It
// proves nothing of who the server is: the operator compares the fingerprints. A nil
// dial is a plain net.Dialer. The context bounds the whole.
func ScanHostKeys(ctx context.Context, addr string, dial DialFunc) ([]string, error) {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	var pins []string
	for _, algorithms := range scanned {
		key, err := scanOne(ctx, addr, dial, algorithms)
		if err != nil {
			return nil, err
		}
		if key != nil {
			pins = append(pins, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))))
		}
	}
	if len(pins) == 0 {
		return nil, unreachable(addr+" offers no host key of a type that is accepted here", nil)
	}
	slices.Sort(pins)
	return pins, nil
}

// scanOne returns the server's key for the algorithms, or nil if it has none.
func scanOne(ctx context.Context, addr string, dial DialFunc, algorithms []string) (key ssh.PublicKey, err error) {
	nc, err := dial(ctx, "tcp", addr)
	if err != nil {
		return nil, connectFailure(ctx, addr, err)
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	_, _, _, err = ssh.NewClientConn(nc, addr, &ssh.ClientConfig{
		HostKeyAlgorithms: algorithms,
		HostKeyCallback: func(_ string, _ net.Addr, offered ssh.PublicKey) error {
			key = offered
			return errScanned
		},
	})
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	case errors.Is(err, errScanned), errors.As(err, &negotiation):
		return key, nil
	case ctx.Err() != nil:
		return nil, &stageError{"the SSH handshake with " + addr}
	}
	return nil, unreachable("the SSH handshake with "+addr+" failed", err)
}
