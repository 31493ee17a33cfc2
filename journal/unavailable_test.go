package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"executor/journal"

	"golang.org/x/sys/unix"
)

// TestUnwritable is JRN-01: whatever happens to the files, nothing is recorded
// elsewhere, the error says unavailable before and at the intent, and the same
// journal works again when its files are back.
func TestUnwritable(t *testing.T) {
	type files struct{ dir, db, away string }
	for name, c := range map[string]struct {
		break_, mend func(t *testing.T, f files)
		want         error
	}{
		"chmod 0400": {
			func(t *testing.T, f files) { must(t, os.Chmod(f.db, 0o400)) },
			func(t *testing.T, f files) { must(t, os.Chmod(f.db, 0o600)) },
			journal.ErrUnavailable,
		},
		"directory read-only": {
			func(t *testing.T, f files) { must(t, os.Chmod(f.dir, 0o500)) },
			func(t *testing.T, f files) { must(t, os.Chmod(f.dir, 0o700)) },
			journal.ErrUnavailable,
		},
		"file deleted": {
			func(t *testing.T, f files) { must(t, os.Rename(f.db, f.away)) },
			func(t *testing.T, f files) { must(t, os.Rename(f.away, f.db)) },
			journal.ErrReplaced,
		},
		"replaced by a directory": {
			func(t *testing.T, f files) { must(t, os.Rename(f.db, f.away)); must(t, os.Mkdir(f.db, 0o700)) },
			func(t *testing.T, f files) { must(t, os.Remove(f.db)); must(t, os.Rename(f.away, f.db)) },
			journal.ErrReplaced,
		},
		"replaced by a copy": {
			func(t *testing.T, f files) {
				b, err := os.ReadFile(filepath.Join(f.dir, "journal.pub"))
				must(t, err)
				must(t, os.Rename(f.db, f.away))
				must(t, os.WriteFile(f.db, b, 0o600))
			},
			func(t *testing.T, f files) { must(t, os.Rename(f.away, f.db)) },
			journal.ErrReplaced,
		},
		"-wal deleted": {
			func(t *testing.T, f files) { must(t, os.Rename(f.db+"-wal", f.away)) },
			func(t *testing.T, f files) { must(t, os.Rename(f.away, f.db+"-wal")) },
			journal.ErrReplaced,
		},
		"pin deleted": {
			func(t *testing.T, f files) { must(t, os.Rename(filepath.Join(f.dir, "journal.pin"), f.away)) },
			func(t *testing.T, f files) { must(t, os.Rename(f.away, filepath.Join(f.dir, "journal.pin"))) },
			journal.ErrReplaced,
		},
		"directory moved": {
			func(t *testing.T, f files) { must(t, os.Rename(f.dir, f.away)) },
			func(t *testing.T, f files) { must(t, os.Rename(f.away, f.dir)) },
			journal.ErrReplaced,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			j := w.open(t)
			run(t, j, call(1))
			f := files{w.dir, filepath.Join(w.dir, "journal.db"), filepath.Join(t.TempDir(), "away")}
			c.break_(t, f)
			before := listing(t, w.dir)
			wantErr(t, j.Writable(t.Context()), c.want, journal.ErrUnavailable)
			_, err := j.Intend(t.Context(), call(2))
			wantErr(t, err, c.want, journal.ErrUnavailable)
			o, _ := okOutcome()
			_, err = j.Settle(t.Context(), call(1).ActivityID, "session-1", o, nil)
			wantErr(t, err, journal.ErrUnavailable)
			if after := listing(t, w.dir); after != before {
				t.Errorf("files went from %s to %s", before, after)
			}
			c.mend(t, f)
			must(t, j.Writable(t.Context()))
			run(t, j, call(2))
			if all := collect(t, w.reader(t).Activities(t.Context(), journal.Filter{})); len(all) != 2 {
				t.Errorf("%d activities, want 2", len(all))
			}
			w.mustVerify(t, journal.VerdictOK)
		})
	}
}

func listing(t *testing.T, dir string) (names string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return "nothing"
	}
	must(t, err)
	for _, e := range list {
		names += e.Name() + " "
	}
	return names
}

// TestReserve: with little room left intents stop first, then what is refused,
// and outcomes go on.
func TestReserve(t *testing.T) {
	w := newWorld(t)
	j := w.open(t)
	if _, err := j.Intend(t.Context(), call(1)); err != nil {
		t.Fatal(err)
	}
	must(t, j.Close())
	var st unix.Statfs_t
	must(t, unix.Statfs(w.dir, &st))
	free := int64(st.Bavail) * int64(st.Bsize)
	c := w.config()
	c.Reserve = free + free/2
	j, err := journal.Open(t.Context(), c)
	must(t, err)
	defer j.Close()
	wantErr(t, j.Writable(t.Context()), journal.ErrLowDisk, journal.ErrUnavailable)
	_, err = j.Intend(t.Context(), call(2))
	wantErr(t, err, journal.ErrLowDisk)
	refused := call(2)
	refused.Outcome.Status = journal.Refused
	if _, err := j.Refuse(t.Context(), refused, 1); err != nil {
		t.Errorf("half the reserve is there: %v", err)
	}
	o, _ := okOutcome()
	if _, err := j.Settle(t.Context(), call(1).ActivityID, "session-1", o, nil); err != nil {
		t.Errorf("an outcome needs no reserve: %v", err)
	}
	must(t, j.Close())

	c.Reserve = 4 * free
	j, err = journal.Open(t.Context(), c)
	must(t, err)
	defer j.Close()
	refused.ActivityID += "x"
	_, err = j.Refuse(t.Context(), refused, 1)
	wantErr(t, err, journal.ErrLowDisk)
	must(t, j.CloseSession(t.Context(), "session-1", "disk is full"))
}

// TestFullDisk fills a small file system: the action in hand is settled or told
// as not recorded, nothing is half written, and work resumes with room.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t)
	w := newWorldIn(t, dir)
	c := w.config()
	c.Reserve = 1 // so that the disk itself is met, not the reserve
	j, err := journal.Open(t.Context(), c)
	must(t, err)
	defer j.Close()
	ballast := filepath.Join(dir, "ballast")
	fillDisk(t, ballast)
	recorded := 0
	var full error
	for n := 0; full == nil; n++ {
		if n > 10000 {
			t.Fatal("the disk never got full")
		}
		if _, full = j.Intend(t.Context(), call(n)); full == nil {
			recorded++
		}
	}
	wantErr(t, full, journal.ErrUnavailable)
	must(t, os.Remove(ballast))
	run(t, j, call(20000))
	all := collect(t, w.reader(t).Activities(t.Context(), journal.Filter{}))
	if len(all) != recorded+1 {
		t.Errorf("%d activities, want the %d that were acknowledged and 1", len(all), recorded)
	}
	w.mustVerify(t, journal.VerdictOK)
}

// fillDisk leaves a little room, so that the wall is met inside a commit.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	chunk := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(chunk)
	}
	st, err := f.Stat()
	must(t, err)
	must(t, f.Truncate(st.Size()-200<<10))
	must(t, f.Close())
}

// TestPragmas: a driver that reorders or drops one would cost durability.
func TestPragmas(t *testing.T) {
	j := newWorld(t).open(t)
	for name, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "page_size": "4096", "wal_autocheckpoint": "2000",
		"journal_size_limit": "67108864", "secure_delete": "1", "trusted_schema": "0", "busy_timeout": "10000", "foreign_keys": "1",
	} {
		if got, err := j.Pragma(name); got != want || err != nil {
			t.Errorf("%s is %s (%v), want %s", name, got, err, want)
		}
	}
}
