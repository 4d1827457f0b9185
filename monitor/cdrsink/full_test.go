package cdrsink

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// small mounts a file system of so many bytes for the test. Without the right to it the
// test is left out.
func small(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("a small disk needs root: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A disk that is full takes no records, and no call waits for it: they are kept, and
// written and passed on when there is room. A sink whose own disk is full holds up nobody.
func TestDEC24_DiskFull(t *testing.T) {
	disk, theirs, dir := small(t, "256k"), small(t, "64k"), t.TempDir()
	l := spool(t, disk, nil)
	well, full := sinkConfig("well", File), sinkConfig("full", File)
	well.Path, full.Path = filepath.Join(dir, "well.jsonl"), filepath.Join(theirs, "full.jsonl")
	s := open(t, l, dir, well, full)
	s.Start()
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	const n = 1000 // some 400 KB
	for done := 0; done < 300; done += 50 {
		write(t, l, done, done+50)
		settled(t, l)
	}
	write(t, l, 300, n)
	until(t, "the disk is full", func() bool { return l.Stats().Failing })
	if st := l.Stats(); !strings.Contains(st.Reason, "no space left on device") || st.Refused != 0 || st.Backlog == 0 {
		t.Errorf("%+v", st)
	}
	until(t, "the sink whose disk is full says so", func() bool { return contains(s.Status()[1], "no space left on device") })
	until(t, "the other one has what the spool could take", func() bool { st := s.Status()[0]; return st.Sent > 0 && st.Backlog == 0 })
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	until(t, "the spool has recovered", func() bool { return l.Past(l.Mark()) && !l.Stats().Failing })
	until(t, "the sink has all", func() bool { return s.Status()[0].Sent == n })
	if st := s.Status(); st[0].Gaps != 0 || st[0].Failing || !st[1].Failing || st[1].Backlog == 0 {
		t.Errorf("%+v", st)
	}
	if err := syscall.Mount("", theirs, "", syscall.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	until(t, "the other sink has all", func() bool { return s.Status()[1].Backlog == 0 })
	stopAll(t, s, l)
	for _, path := range []string{well.Path, full.Path} {
		if got := all(t, path); !slices.Equal(got, calls(0, n)) {
			t.Errorf("%s has %d of %d records", path, len(got), n)
		}
	}
}
