package target

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrNever marks a target that is never reached, whatever the operator bound.
var ErrNever = errors.New("such addresses are never reached")

// A Class says how freely an address may be dialed. The zero value is Never.
type Class int

const (
	// Never is dialed by nobody: link-local, metadata, multicast, unspecified, reserved.
	Never Class = iota
	// Private is dialed only under a pattern that permits it (Pattern.Private).
	Private
	// Public is dialed freely.
	Public
)

// String returns "never", "private" or "public".
func (c Class) String() string {
	switch c {
	case Private:
		return "private"
	case Public:
		return "public"
	}
	return "never"
}

// A Verdict is the class of an address and the reason. The zero value is Never.
type Verdict struct {
	class Class
	why   string
}

// Class says how freely the address may be dialed.
func (v Verdict) Class() Class { return v.class }

// Why names the kind of address with its article, for a sentence such as
// "10.0.0.1 is a private address": "a link-local/metadata address".
func (v Verdict) Why() string {
	if v.why == "" {
		return "an address that was not judged"
	}
	return v.why
}

// Judge judges one address. IPv6 forms that carry an IPv4 address (mapped,
// compatible, translated, NAT64, 6to4) are judged by that. What is invalid, has a zone or is
// not assigned to anybody is Never.
func Judge(a netip.Addr) Verdict {
	switch {
	case !a.IsValid():
		return Verdict{Never, "no address"}
	case a.Zone() != "":
		return Verdict{Never, "a link-local address with a zone"}
	}
	if inner, ok := embedded(a); ok {
		v := Judge(inner)
		return Verdict{v.class, fmt.Sprintf("%s (%s inside %s)", v.why, inner, a)}
	}
	for _, r := range ranges() {
		if netip.MustParsePrefix(r.prefix).Contains(a) {
			return Verdict{r.class, r.why}
		}
	}
	return Verdict{Never, reserved}
}

const (
	metadata   = "a link-local/metadata address"
	docs       = "a documentation address"
	reserved   = "a reserved address"
	privateUse = "a private address"
)

type addressRange struct {
	prefix string
	class  Class
	why    string
}

// ranges lists the special-purpose ranges, the first match counting.
// An IPv6 address outside all of them is not assigned.
func ranges() []addressRange {
	return []addressRange{
		{"169.254.0.0/16", Never, metadata},
		{"100.100.100.200/32", Never, metadata}, // Alibaba Cloud
		{"168.63.129.16/32", Never, metadata},   // Azure
		{"192.0.0.192/32", Never, metadata},     // Oracle Cloud
		{"fd00:ec2::/32", Never, metadata},      // AWS
		{"fd20:ce::254/128", Never, metadata},   // Google Cloud
		{"fe80::/10", Never, metadata},

		{"0.0.0.0/32", Never, "an unspecified address"},
		{"0.0.0.0/8", Never, reserved},
		{"10.0.0.0/8", Private, privateUse},
		{"172.16.0.0/12", Private, privateUse},
		{"192.168.0.0/16", Private, privateUse},
		{"127.0.0.0/8", Private, "a loopback address"},
		{"100.64.0.0/10", Private, "a carrier-grade NAT address"},
		{"198.18.0.0/15", Private, "a benchmarking address"},
		{"192.0.0.0/24", Never, reserved},
		{"192.0.2.0/24", Never, docs},
		{"198.51.100.0/24", Never, docs},
		{"203.0.113.0/24", Never, docs},
		{"192.88.99.0/24", Never, reserved},
		{"224.0.0.0/4", Never, "a multicast address"},
		{"255.255.255.255/32", Never, "a broadcast address"},
		{"240.0.0.0/4", Never, reserved},
		{"0.0.0.0/0", Public, "a public address"},

		{"::/128", Never, "an unspecified address"},
		{"::1/128", Private, "a loopback address"},
		{"fc00::/7", Private, privateUse},
		{"ff00::/8", Never, "a multicast address"},
		{"2001::/23", Never, reserved}, // Teredo, ORCHID and other protocol assignments
		{"2001:db8::/32", Never, docs},
		{"3fff::/20", Never, docs},
		{"2000::/3", Public, "a public address"},
	}
}

// embedded returns the IPv4 address that an IPv6 address stands for.
func embedded(a netip.Addr) (netip.Addr, bool) {
	switch {
	case a.Is4In6(): // RFC 4291
		return a.Unmap(), true
	case !a.Is6() || a == netip.IPv6Unspecified() || a == netip.IPv6Loopback():
		return netip.Addr{}, false
	}
	b := a.As16()
	for _, form := range []struct {
		prefix string
		at     int
	}{
		{"::/96", 12},           // IPv4-compatible, RFC 4291
		{"::ffff:0:0:0/96", 12}, // IPv4-translated, RFC 2765
		{"64:ff9b::/96", 12},    // NAT64, RFC 6052
		{"2002::/16", 2},        // 6to4, RFC 3056
	} {
		if netip.MustParsePrefix(form.prefix).Contains(a) {
			return netip.AddrFrom4([4]byte(b[form.at : form.at+4])), true
		}
	}
	return netip.Addr{}, false
}
