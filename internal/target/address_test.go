package target_test

import (
	"net/netip"
	"strings"
	"testing"

	"executor/internal/target"
)

func TestJudge(t *testing.T) {
	for class, addrs := range map[target.Class]string{
		target.Public: `1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 169.253.255.255 169.255.0.0 192.0.1.1 223.255.255.255
			2606:4700::1111 2a00:1450::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1 ::8.8.8.8 ::ffff:0:8.8.8.8`,
		target.Private: `10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 127.0.0.1 127.255.255.254 100.64.0.1 100.127.255.255
			100.100.100.199 198.18.0.1 ::1 fc00::1 fd12::1 fdff::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:a00:1:: ::10.0.0.1 ::ffff:0:10.0.0.1`,
		target.Never: `0.0.0.0 0.1.2.3 169.254.0.1 169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.1 192.0.0.192 192.0.2.1
			198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
			:: ::2 fe80::1 febf::1 fec0::1 ff02::1 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:0.0.0.0
			64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 2002:a9fe:a9fe:: ::169.254.169.254 ::ffff:0:169.254.169.254 2001:db8::1 2001:0:808:808:: 3fff::1
			100::1 4000::1 1::1 fe80::1%eth0 ::ffff:8.8.8.8%eth0 ::1%lo ::ffff:100.100.100.200 2002:e000:1::`,
	} {
		for a := range strings.FieldsSeq(addrs) {
			v := target.Judge(netip.MustParseAddr(a))
			if v.Class() != class || v.Why() == "" {
				t.Errorf("%s: %v, %s; want %v", a, v.Class(), v.Why(), class)
			}
		}
	}
}

func TestJudgeFailsClosed(t *testing.T) {
	for name, v := range map[string]target.Verdict{"no address": target.Judge(netip.Addr{}), "zero": {}} {
		if v.Class() != target.Never || v.Why() == "" || v.Class().String() != "never" {
			t.Errorf("%s: %v, %s", name, v.Class(), v.Why())
		}
	}
}

func TestJudgeSaysWhy(t *testing.T) {
	for a, want := range map[string]string{
		"169.254.169.254":    "a link-local/metadata address",
		"fe80::1":            "a link-local/metadata address",
		"64:ff9b::a9fe:a9fe": "a link-local/metadata address (169.254.169.254 inside 64:ff9b::a9fe:a9fe)",
		"::ffff:10.0.0.1":    "a private address (10.0.0.1 inside ::ffff:10.0.0.1)",
		"2606:4700::1%eth0":  "a link-local address with a zone",
		"255.255.255.255":    "a broadcast address",
		"::":                 "an unspecified address",
	} {
		if got := target.Judge(netip.MustParseAddr(a)).Why(); got != want {
			t.Errorf("%s: %s; want %s", a, got, want)
		}
	}
}

func TestURLJudge(t *testing.T) {
	for raw, want := range map[string]target.Class{
		"http://METADATA.google.internal./": target.Never, "http://metadata/": target.Never, "http://localhost/": target.Private,
		"http://[::ffff:a9fe:a9fe]/": target.Never, "http://127.0.0.2/": target.Private, "http://1.1.1.1/": target.Public,
	} {
		if v, known := mustParse(t, raw).Judge(); !known || v.Class() != want {
			t.Errorf("%s: %v %v, %s", raw, v.Class(), known, v.Why())
		}
	}
	if v, known := mustParse(t, "http://example.com/").Judge(); known || v.Class() != target.Never {
		t.Errorf("a name is judged: %v", v.Class())
	}
}

func TestMetadataName(t *testing.T) {
	for _, host := range []string{"metadata.google.internal", "Metadata.Google.Internal.", "metadata", "metadata.goog", "instance-data", "instance-data.ec2.internal"} {
		if !target.MetadataName(host) {
			t.Errorf("%s is not known", host)
		}
	}
	for _, host := range []string{"", "google.internal", "metadata.example.com", "xmetadata"} {
		if target.MetadataName(host) {
			t.Errorf("%s is taken for one", host)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.9.10": true, "::1": true,
		"": false, "LOCALHOST": false, "localhost.": false, "a.localhost": false, "localhost.example.com": false, "::ffff:127.0.0.1": false,
		"128.0.0.1": false, "127.1": false, "::1%lo": false, "10.0.0.1": false, "0.0.0.0": false,
	} {
		if target.Loopback(host) != want {
			t.Errorf("Loopback(%q) = %v", host, !want)
		}
	}
}
