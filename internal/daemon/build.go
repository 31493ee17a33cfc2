package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"

	"executor/journal"
)

// Build identifies the running program: what the linker recorded, and the hash
// of the executable that the kernel runs. What cannot be told is "".
func Build() journal.Build {
	var b journal.Build
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.VCSRevision = s.Value
			case "vcs.modified":
				b.VCSModified = s.Value == "true"
			}
		}
	}
	b.BinarySHA256 = executableHash()
	return b
}

func executableHash() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
