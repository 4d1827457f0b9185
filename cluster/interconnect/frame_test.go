package interconnect

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"
)

func TestFrameRoundTrip(t *testing.T) {
	var wire []byte
	wire = appendFrame(wire, 17, []byte("payload"))
	wire = appendFrame(wire, 18, nil)
	r := bytes.NewReader(wire)
	for _, want := range []struct {
		kind    byte
		payload string
	}{{17, "payload"}, {18, ""}} {
		version, kind, payload, err := readFrame(r)
		if err != nil || version != FrameVersion || kind != want.kind || string(payload) != want.payload {
			t.Errorf("got %d %d %q %v, want %d %q", version, kind, payload, err, want.kind, want.payload)
		}
	}
	if _, _, _, err := readFrame(r); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, want EOF", err)
	}
}

func TestFrameBounds(t *testing.T) {
	for _, wire := range [][]byte{
		{0, 0, 0, 0, 1, 17},
		{0, 0, 0, 1, 1, 17},
		{0xff, 0xff, 0xff, 0xff, 1, 17},
		{0, 4, 0, 3, 1, 17},
	} {
		if _, _, _, err := readFrame(bytes.NewReader(wire)); !errors.Is(err, errFrame) {
			t.Errorf("% x: %v, want a refusal of the length", wire, err)
		}
	}
	if _, _, _, err := readFrame(bytes.NewReader([]byte{0, 0, 0, 9, 1, 17, 'x'})); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a cut frame: %v", err)
	}
}

func TestBeatRoundTrip(t *testing.T) {
	b := beat{seq: 7, wall: -5, age: 1500 * time.Millisecond}
	got, ok := parseBeat(append(b.append(nil), "later fields"...))
	if !ok || got != b {
		t.Errorf("got %+v, want %+v", got, b)
	}
	if got, _ := parseBeat(beat{age: time.Microsecond}.append(nil)); got.age != time.Millisecond {
		t.Errorf("an age of 1 µs travels as %v, want it rounded up", got.age)
	}
	if got, _ := parseBeat(beat{age: time.Hour * 24 * 400}.append(nil)); got.age != neverHeard {
		t.Errorf("an endless age travels as %v", got.age)
	}
	if _, ok := parseBeat(make([]byte, beatLength-1)); ok {
		t.Error("a short beat was read")
	}
}

func FuzzFrame(f *testing.F) {
	f.Add(appendFrame(nil, 17, []byte("payload")))
	f.Add([]byte{0, 4, 0, 3, 1, 17})
	f.Add(appendFrame(nil, kindPing, beat{seq: 1}.append(nil)))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := bytes.NewReader(wire)
		for {
			before := r.Len()
			version, kind, payload, err := readFrame(r)
			if err != nil {
				return
			}
			if version == FrameVersion {
				again := appendFrame(nil, kind, payload)
				if at := len(wire) - before; !bytes.Equal(again, wire[at:at+len(again)]) {
					t.Fatal("a frame does not encode as it was read")
				}
			}
			if b, ok := parseBeat(payload); ok && !bytes.Equal(b.append(nil), payload[:beatLength]) {
				t.Fatal("a beat does not encode as it was read")
			}
		}
	})
}
