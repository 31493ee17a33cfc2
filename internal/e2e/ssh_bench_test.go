package e2e_test

import (
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkSSHExec measures a whole call of ssh_exec over a pooled connection, from
// the agent's line to the answer, under a rule that asks nobody and with both
// journal entries on disk, beside ssh with ControlMaster doing the same on the
// same real server. They take turns, so that what else the machine does meets both.
func BenchmarkSSHExec(b *testing.B) {
	w := newWorld(b)
	needs(w, "OpenSSH's ssh", "ssh")
	box := w.sshd()
	w.ok(w.unlocking("credential", "add", "key", "--type", "ssh-key", "--target", "ssh://"+box.addr, "--from-file", box.key)...)
	w.ok(w.unlocking("host", "add", "box", "--addr", box.addr, "--user", box.user, "--credential", "key", "--host-key", box.hostKey)...)
	w.ok(w.unlocking("rule", "add", "true", "--tool", "ssh_exec", "--host", "box", "--argv", "true", "--approval", "none")...)
	w.serve()
	a := w.agent()
	ours := func() time.Duration {
		began := time.Now()
		r := a.begin("ssh_exec", args{"host": "box", "argv": []string{"true"}}).succeeds()
		return r.at.Sub(began)
	}
	host, port, err := net.SplitHostPort(box.addr)
	if err != nil {
		b.Fatal(err)
	}
	options := []string{
		"-F", "none", "-i", box.key, "-p", port, "-o", "BatchMode=yes", "-o", "ControlPath=" + filepath.Join(w.dir, "cm"),
		"-o", "UserKnownHostsFile=" + w.file("known", "["+host+"]:"+port+" "+box.hostKey+"\n"), box.user + "@" + host,
	}
	master := exec.Command("ssh", append([]string{"-M", "-N"}, options...)...)
	if err := master.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { master.Process.Kill(); master.Wait() }()
	poll(w, "the master connection", func() bool {
		return exec.Command("ssh", append([]string{"-O", "check"}, options...)...).Run() == nil
	})
	theirs := func() time.Duration {
		began := time.Now()
		if out, err := exec.Command("ssh", append(slices.Clone(options), "true")...).CombinedOutput(); err != nil {
			b.Fatalf("%v %s", err, out)
		}
		return time.Since(began)
	}
	n := max(b.N, 100)
	var times [2][]time.Duration
	for range n {
		times[0], times[1] = append(times[0], ours()), append(times[1], theirs())
	}
	for i := range times {
		slices.Sort(times[i])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(times[0][n/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(times[1][n/2].Microseconds()), "ssh-µs")
	b.ReportMetric(float64(times[0][n/2])/float64(times[1][n/2]), "p50/ssh")
}
