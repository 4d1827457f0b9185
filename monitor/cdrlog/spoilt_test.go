package cdrlog

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// spoil puts something in the place of a text in the current file.
func (m *memFS) spoil(t *testing.T, text, by string) {
	t.Helper()
	f := m.files["/cdr/calls.jsonl"]
	if !bytes.Contains(f.data, []byte(text)) {
		t.Fatalf("no %s in %s", text, f.data)
	}
	f.data = bytes.Replace(f.data, []byte(text), []byte(by), 1)
}

// What a disk has spoilt costs the records that stood there, and no others: not the file
// they begin, and not the numbers of those that come.
func TestSpoiltLinesCostThemselvesOnly(t *testing.T) {
	for _, c := range []struct {
		name, text, by string
		lost           []int
	}{
		{"the first line", `{"seq":1,"n":0}`, "\x00\x00\x00\x00", []int{0}},
		{"the first two lines", "{\"seq\":1,\"n\":0}\n{\"seq\":2,", "#", []int{0, 1}},
		{"one in between", `{"seq":3,`, "?????????", []int{2}},
		{"the last line", `{"seq":5,"n":4}`, strings.Repeat("\x00", 15), nil}, // its number is given again
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk := newMemFS()
				l := openMem(t, disk, nil)
				for n := range 5 {
					l.Write(number(n))
				}
				stop(t, l)
				disk.spoil(t, c.text, c.by)
				l = openMem(t, disk, func(c *Config) { c.MaxSize = 100 })
				tail := l.Tail(Position{})
				for n := 5; n < 20; n++ {
					l.Write(number(n))
					time.Sleep(time.Second)
				}
				stop(t, l)
				got := strings.Join(drained(t, tail), " ")
				for n := range 20 {
					is := strings.Contains(got, ":"+string(number(n)))
					if c.lost == nil && n == 4 {
						continue
					}
					if is == slices.Contains(c.lost, n) {
						t.Errorf("record %d is there: %t\n%s", n, is, got)
					}
				}
				if int(tail.Gaps()) > len(c.lost) {
					t.Errorf("%d gaps", tail.Gaps())
				}
			})
		})
	}
}

// A power loss can leave a long stretch of zeros where lines were being written. It is cut
// off whole: the next record begins a line.
func TestZerosAtTheEndAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		l.Write(number(0))
		stop(t, l)
		f := disk.files["/cdr/calls.jsonl"]
		f.data = append(f.data, make([]byte, 2*tailLimit+5)...)
		l = openMem(t, disk, nil)
		l.Write(number(1))
		stop(t, l)
		if got := disk.lines(t); !slices.Equal(got, numbers(0, 2)) {
			t.Errorf("%d lines, %.80q", len(got), got)
		}
	})
}

// A place that is none of the file does not stop a reader: its number finds it.
func TestAPlaceIsFoundByItsNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newMemFS()
		l := openMem(t, disk, nil)
		for n := range 5 {
			l.Write(number(n))
		}
		time.Sleep(time.Second)
		for _, offset := range []int64{-7, 3, 99_999, 1 << 62} {
			if got := drained(t, l.Tail(Position{Next: 3, First: 1, Offset: offset})); !slices.Equal(got, expected(2, 5)) {
				t.Errorf("from %d: %q", offset, got)
			}
		}
		stop(t, l)
	})
}
