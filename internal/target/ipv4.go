package target

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// endsInNumber reports whether the last label is a number, which makes the
// whole host an IPv4 address to browsers (WHATWG URL, "ends in a number") and to
// the C library. No top-level domain is a number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if digits, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// checkIPv4 refuses every spelling of an IPv4 address but the canonical one.
func checkIPv4(name string, plain bool) error {
	a, err := netip.ParseAddr(name)
	if err == nil && plain {
		return nil
	}
	if err != nil {
		var ok bool
		if a, ok = inetAton(name); !ok {
			return errors.New("the host ends in a number but is not an IPv4 address")
		}
	}
	verdict := Judge(a)
	if verdict.Class() == Never {
		return fmt.Errorf("the host is another spelling of %s, %s: %w", a, verdict.Why(), ErrNever)
	}
	return fmt.Errorf("the host is another spelling of the address %s (%s); write that, if it is meant", a, verdict.Why())
}

// inetAton reads an address as the C library does: one to four parts, each
// decimal, octal (0…) or hexadecimal (0x…), the last one filling the rest.
func inetAton(name string) (netip.Addr, bool) {
	fields := strings.Split(name, ".")
	if len(fields) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, f := range fields {
		bits := 8
		if i == len(fields)-1 {
			bits = 8 * (5 - len(fields))
		}
		n, ok := inetPart(f, bits)
		if !ok {
			return netip.Addr{}, false
		}
		value = value<<bits | n
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(value))
	return netip.AddrFrom4(b), true
}

func inetPart(f string, bits int) (uint64, bool) {
	base := 10
	switch {
	case f == "0x":
		return 0, true
	case strings.HasPrefix(f, "0x"):
		f, base = f[2:], 16
	case len(f) > 1 && f[0] == '0':
		f, base = f[1:], 8
	}
	n, err := strconv.ParseUint(f, base, bits)
	return n, err == nil
}
