package target

import (
	"net/netip"
	"strings"
)

// MetadataName reports whether a host name is one under which a cloud serves
// metadata and credentials to whoever asks. The name may be in any case, with a trailing dot.
func MetadataName(host string) bool {
	switch strings.TrimSuffix(strings.ToLower(host), ".") {
	case "metadata", "metadata.google.internal", "metadata.goog",
		"instance-data", "instance-data.ec2.internal", "metadata.azure.internal",
		"metadata.tencentyun.com", "metadata.platformequinix.com", "metadata.oraclecloud.com":
		return true
	}
	return false
}

// Loopback reports whether a normalized host is exact loopback: an address in
// 127.0.0.0/8, ::1, or the name localhost. Only there may a credential go over plain http.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && !a.Is4In6() && a.IsLoopback() && a.Zone() == ""
}

func judgeHost(host string) (Verdict, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return Judge(a), true
	}
	switch {
	case MetadataName(host):
		return Verdict{Never, "the name of a metadata service (link-local/metadata address)"}, true
	case host == "localhost":
		return Verdict{Private, "a loopback name"}, true
	}
	return Verdict{}, false
}
