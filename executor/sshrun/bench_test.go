package sshrun_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"executor/executor"
	"executor/executor/sshrun"
	"executor/internal/action"
)

// rounds runs the functions in turns, n times, and returns the median time of each:
// whatever else the machine does meets all of them.
func rounds(b *testing.B, n int, fs ...func() error) []time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(fs))
	for range n {
		for i, f := range fs {
			began := time.Now()
			if err := f(); err != nil {
				b.Fatal(err)
			}
			times[i] = append(times[i], time.Since(began))
		}
	}
	medians := make([]time.Duration, len(fs))
	for i, t := range times {
		slices.Sort(t)
		medians[i] = t[n/2]
	}
	return medians
}

func benchRunner(b *testing.B) *sshrun.Runner {
	r := sshrun.New(sshrun.Config{})
	b.Cleanup(r.Close)
	return r
}

func runTrue(b *testing.B, r *sshrun.Runner, addr, login string, l *executor.Lease, pins ...string) func() error {
	a := command(addr, login, "true", l, pins...)
	return func() error {
		resp, err := r.Run(b.Context(), a, l, func() {})
		if err != nil {
			return err
		}
		if code := resp.(*executor.SSHResponse).Exit; code == nil || *code != 0 {
			return fmt.Errorf("exit %v", code)
		}
		return nil
	}
}

// BenchmarkRun measures a pooled command beside its floor, a bare client that
// opens a session on one connection and sends the same packets, on an in-process
// server; and beside one that does not send the mark.
func BenchmarkRun(b *testing.B) {
	key := hostSigner(b, "host_ed25519")
	s := newServer(b, key)
	addr := s.start(b)
	l := keyLease(b)
	l.Activity = "0198c0de-0000-7000-8000-000000000000"
	signer := hostSigner(b, "other_ed25519")
	client, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{
		User: "u", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, HostKeyCallback: ssh.FixedHostKey(key.PublicKey()),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	ours := runTrue(b, benchRunner(b), addr, "u", l, pin(key))
	bare := func(mark bool) func() error {
		return func() error {
			session, err := client.NewSession()
			if err != nil {
				return err
			}
			defer session.Close()
			if mark {
				_, err = session.SendRequest("env", false, ssh.Marshal(action.EnvVar{Name: action.MarkerName, Value: l.Activity}))
			}
			if err == nil {
				_, err = session.Output("true")
			}
			return err
		}
	}
	rounds(b, 50, ours, bare(true), bare(false))
	m := rounds(b, max(b.N, 2000), ours, bare(true), bare(false))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(m[0].Microseconds()), "p50-µs")
	b.ReportMetric(float64(m[1].Microseconds()), "floor-µs")
	b.ReportMetric(float64(m[0])/float64(m[1]), "p50/floor")
	b.ReportMetric(float64(m[0])/float64(m[2]), "p50/unmarked")
}

// BenchmarkControlMaster measures a pooled command beside ssh with ControlMaster,
// which does the same, both on one real sshd.
func BenchmarkControlMaster(b *testing.B) {
	program, err := exec.LookPath("ssh")
	if err != nil {
		b.Skipf("no ssh (Debian: apt-get install openssh-client): %v", err)
	}
	addr, login := sshd(b)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		b.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "cm") // a socket's path is short
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	known := filepath.Join(dir, "known_hosts")
	if err := os.WriteFile(known, []byte("["+host+"]:"+port+" "+pin(hostSigner(b, "host_ed25519"))+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	options := []string{
		"-F", "none", "-i", copyTo(b, dir, "testdata/key.good"), "-p", port, "-o", "UserKnownHostsFile=" + known, "-o", "BatchMode=yes",
		"-o", "ControlPath=" + filepath.Join(dir, "s"), login + "@" + host,
	}
	master := exec.Command(program, append([]string{"-M", "-N"}, options...)...)
	if err := master.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { master.Process.Kill(); master.Wait() }()
	theirs := func() error { return exec.Command(program, append(slices.Clone(options), "true")...).Run() }
	eventually(b, 10*time.Second, "the master connection", func() bool {
		_, err := os.Stat(filepath.Join(dir, "s"))
		return err == nil
	})
	l := keyLease(b)
	l.Activity = "0198c0de-0000-7000-8000-000000000000"
	ours := runTrue(b, benchRunner(b), addr, login, l, pin(hostSigner(b, "host_ed25519")))
	rounds(b, 10, ours, theirs)
	m := rounds(b, max(b.N, 100), ours, theirs)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(m[0].Microseconds()), "p50-µs")
	b.ReportMetric(float64(m[1].Microseconds()), "ssh-µs")
	b.ReportMetric(float64(m[0])/float64(m[1]), "p50/ssh")
}
