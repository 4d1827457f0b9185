package wire

import (
	"maps"
	"slices"
)

// stream joins the segments of one TCP direction in order. Repeated bytes are
// dropped; segments behind a gap wait for it to be filled.
type stream struct {
	started bool
	next    uint32
	ahead   map[uint32][]byte
	bytes   []byte
}

func (t *stream) add(s segment) {
	seq := s.seq
	if s.syn {
		t.started, t.next, t.ahead = true, seq+1, nil
		seq++
	}
	if len(s.data) == 0 {
		return
	}
	if !t.started { // the capture began inside the connection
		t.started, t.next = true, seq
	}
	t.place(seq, s.data)
	for {
		data, ok := t.ahead[t.next]
		if !ok {
			return
		}
		delete(t.ahead, t.next)
		t.place(t.next, data)
	}
}

// runs returns the bytes in order, broken where segments are missing: a capture
// that began inside a connection may begin with a repeat of what is long past, and
// what lies between is not in it.
func (t *stream) runs() [][]byte {
	list := [][]byte{t.bytes}
	for len(t.ahead) > 0 {
		next := slices.MinFunc(slices.Collect(maps.Keys(t.ahead)), func(a, b uint32) int {
			return int(int32(a-t.next)) - int(int32(b-t.next))
		})
		t.bytes, t.next = nil, next
		data := t.ahead[next]
		delete(t.ahead, next)
		t.add(segment{seq: next, data: data})
		list = append(list, t.bytes)
	}
	return list
}

// place appends what is new of data, or keeps it when bytes before it miss.
func (t *stream) place(seq uint32, data []byte) {
	old := int32(t.next - seq) // sequence numbers wrap
	switch {
	case old < 0:
		if t.ahead == nil {
			t.ahead = map[uint32][]byte{}
		}
		t.ahead[seq] = data
	case int(old) < len(data):
		t.bytes = append(t.bytes, data[old:]...)
		t.next = seq + uint32(len(data))
	}
}
