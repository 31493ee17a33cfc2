package journal_test

import (
	"testing"

	"executor/journal"
)

func TestNetworkFileSystemsAreNamed(t *testing.T) {
	for magic, want := range map[int64]string{0x6969: "nfs", 0xfe534d42: "smb", 0xff534d42: "smb", 0x01021997: "9p", 0xef53: "", 0x01021994: ""} {
		if got := journal.NetworkName(magic); got != want {
			t.Errorf("%#x: got %q, want %q", magic, got, want)
		}
	}
}
