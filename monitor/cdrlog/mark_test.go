package cdrlog

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// DEC-24: a call is taken back from the other nodes only when its record is on disk, so a
// mark is past then and no moment earlier, through all failures of the disk.
func TestDEC24_MarkIsPastWhenOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		if !l.Past(l.Mark()) {
			t.Error("nothing was written, so all of it is on disk")
		}
		disk.do(func() { disk.syncErr = errors.New("no") })
		l.Write(number(1))
		first := l.Mark()
		time.Sleep(time.Minute)
		if l.Past(first) {
			t.Error("past a record that was never synced")
		}
		l.Write(line("bad"))
		l.Write(number(2))
		second := l.Mark()
		disk.do(func() { disk.syncErr = nil })
		time.Sleep(time.Minute)
		if !l.Past(first) || !l.Past(second) {
			t.Error("all is on disk, or will never be")
		}
		stop(t, l)
	})
}
