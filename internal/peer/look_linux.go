package peer

import (
	"fmt"
	"os"
	"syscall"
)

// procfs is the path of a mounted proc(5).
type procfs string

const proc procfs = "/proc"

// look fills in what /proc says about the peer and the processes above it. All
// of it is dropped again when the peer ended or changed meanwhile, because its
// pid may then have meant another process.
func (o *Observer) look(p *Peer, cred credential) {
	before, err := proc.stat(p.PID)
	if err != nil {
		return
	}
	exe := proc.exe(p.PID)
	sum := o.hashExe(proc.path(p.PID, "exe"))
	chain := proc.chain(p.PID)
	after, err := proc.stat(p.PID)
	if err != nil || after.start != before.start || cred.gone() || proc.exe(p.PID) != exe {
		return
	}
	p.Exe, p.ExeSHA256, p.Chain = exe, sum, chain
}

// chain goes upward from pid. A parent was there before its child: one that
// started later has only inherited the pid, and the chain ends before it.
func (fs procfs) chain(pid int) []Process {
	chain := []Process{}
	for pid > 0 && len(chain) < MaxChain {
		s, err := fs.stat(pid)
		if err != nil {
			break
		}
		if n := len(chain); n > 0 && s.start > chain[n-1].Start {
			break
		}
		chain = append(chain, Process{PID: pid, Name: s.name, Exe: fs.exe(pid), Start: s.start})
		pid = s.parent
	}
	return chain
}

func (fs procfs) stat(pid int) (stat, error) {
	b, err := os.ReadFile(fs.path(pid, "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(b)
}

func (fs procfs) exe(pid int) string {
	path, err := os.Readlink(fs.path(pid, "exe"))
	if err != nil {
		return ""
	}
	return path
}

func (fs procfs) path(pid int, name string) string {
	return fmt.Sprintf("%s/%d/%s", fs, pid, name)
}

// hashExe reads through the kernel's link, which leads to the running file even
// when its path now names another.
func (o *Observer) hashExe(link string) string {
	f, err := os.Open(link)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	id := fileID{
		dev: uint64(st.Dev), inode: uint64(st.Ino), size: st.Size,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
	sum, err := o.hashes.sum(id, f)
	if err != nil {
		return ""
	}
	return sum
}
