package httprun

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"executor/internal/target"
)

const dialTimeout = 20 * time.Second

// A blockedError is an address that is not dialed under the action.
type blockedError struct {
	host string
	addr netip.Addr
	why  string
}

func (e *blockedError) Error() string {
	text := e.host
	if e.addr.IsValid() && e.addr.String() != e.host {
		text += " resolves to " + e.addr.String() + ", which"
	}
	return text + " is " + e.why
}

type dialer struct {
	resolver Resolver
	dialer   net.Dialer
	private  bool
}

// dial resolves addr's host once, judges every address, and dials the judged
// addresses one after the other until one answers.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	addrs, err := d.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if err := d.judge(host, a); err != nil {
			return nil, err
		}
	}
	return d.first(ctx, network, addrs, port)
}

func (d *dialer) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	if target.MetadataName(host) {
		return nil, &blockedError{host: host, why: "a metadata name"}
	}
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs, err
}

func (d *dialer) judge(host string, a netip.Addr) error {
	switch v := target.Judge(a); v.Class() {
	case target.Public:
		return nil
	case target.Private:
		if d.private {
			return nil
		}
		return &blockedError{host, a, v.Why() + ", and no binding names it"}
	default:
		return &blockedError{host, a, v.Why()}
	}
}

func (d *dialer) first(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	dialer := d.dialer
	dialer.Control, dialer.ControlContext = nil, d.guard
	var failures []error
	for i, a := range addrs {
		conn, err := dialOne(ctx, &dialer, network, net.JoinHostPort(a.Unmap().String(), port), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// dialOne gives an address its share of the time that is left.
func dialOne(ctx context.Context, d *net.Dialer, network, addr string, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	return d.DialContext(ctx, network, addr)
}

// guard judges the address of the socket itself, right before it connects.
func (d *dialer) guard(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("socket address: %w", err)
	}
	return d.judge(ap.Addr().String(), ap.Addr())
}
