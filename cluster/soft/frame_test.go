package soft

import (
	"errors"
	"testing"
	"time"
)

// frames returns what a small store says.
func frames() (list [][]byte) {
	s := New(Config{Node: "a", Boot: 7}, epoch)
	s.NodeUp(epoch, "b", 1)
	_ = s.Put(epoch, KindCall, "call", []byte("record"), 0)
	_ = s.Put(epoch, KindBinding, "aor", []byte("contact"), time.Hour)
	s.Delete(epoch, KindCall, "call")
	list = append(list, appendWant(nil, []want{{"a", 7, 0, 0}, {"c", 1, 5, 9}}))
	for _, m := range s.Output() {
		list = append(list, m.Frame)
	}
	s.NodeLost(epoch, "b", time.Time{})
	s.NodeUp(epoch.Add(time.Second), "b", 2)
	for _, m := range s.Output() {
		list = append(list, m.Frame)
	}
	return list
}

// Frames come from other nodes, of this version or another one: whatever is in them,
// reading ends, the store stays whole, and what it sends can be read.
func FuzzReceive(f *testing.F) {
	for _, b := range frames() {
		f.Add(b, []byte(nil))
	}
	f.Add(frames()[1], frames()[0])
	f.Fuzz(func(t *testing.T, first, second []byte) {
		s := New(Config{Node: "b", Boot: 1, MaxEntries: 50, MaxBytes: 1 << 20, Rules: short()}, epoch)
		peer := New(Config{Node: "a", Boot: 7, Rules: short()}, epoch)
		s.NodeUp(epoch, "a", 7)
		_ = s.Put(epoch, KindCall, "own", []byte("x"), 0)
		now := epoch
		for _, b := range [][]byte{first, second, first} {
			if err := s.Receive(now, "a", b); err != nil && !errors.Is(err, ErrFrame) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			s.verify(t)
			for _, m := range s.Output() {
				if err := peer.Receive(now, "b", m.Frame); err != nil {
					t.Fatalf("%x of %x: %v", m.Frame, b, err)
				}
			}
			now = now.Add(30 * time.Second)
			s.Advance(now)
			s.verify(t)
		}
		if e, ok := s.Get(KindCall, "own"); !ok || e.Owner != "b" {
			t.Fatal("a frame took this node's own entry")
		}
		s.NodeLost(now, "a", epoch)
		s.Advance(now.Add(time.Minute))
		s.verify(t)
	})
}

// A frame of a newer form is skipped, and fields behind the known ones are ignored.
func TestFramesOfAnotherVersion(t *testing.T) {
	s := New(Config{Node: "b", Boot: 1}, epoch)
	for _, b := range frames() {
		newer := append([]byte{frameVersion + 1}, b[1:]...)
		if err := s.Receive(epoch, "a", newer); !errors.Is(err, ErrVersion) {
			t.Errorf("%x: %v", newer, err)
		}
		if err := s.Receive(epoch, "a", append(b[:len(b):len(b)], 1, 2, 3)); err != nil {
			t.Errorf("%x with more behind: %v", b, err)
		}
		for cut := range b {
			if err := s.Receive(epoch, "a", b[:cut]); err == nil {
				t.Errorf("%x, cut to %d octets, was taken", b, cut)
			}
		}
	}
	if err := s.Receive(epoch, "a", []byte{frameVersion, 9, 0}); !errors.Is(err, ErrVersion) {
		t.Errorf("an unknown type: %v", err)
	}
}
