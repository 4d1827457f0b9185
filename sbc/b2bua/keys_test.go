package b2bua

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/geo"
)

// Keys of a cluster that changes from x, which the worlds of these tests begin with, to y.
var (
	keyX = bytes.Repeat([]byte("x"), 32)
	keyY = bytes.Repeat([]byte("y"), 32)
)

func keysOf(keys ...[]byte) Keys { return Keys{Identifiers: keys, Handoff: keys} }

// A call that began under the old key is taken down under the new one, after the old one is gone.
func TestCallsSurviveAKeyRotation(t *testing.T) {
	w := newWorld(t)
	_, ok := w.answeredCall()
	for _, k := range []Keys{keysOf(keyX, keyY), keysOf(keyY, keyX), keysOf(keyY)} {
		w.s.SetKeys(k)
	}
	w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
	w.take(pbx1Addr, "BYE")
	w.take(carrierAddr, "SIP/2.0 200")
}

// During a rotation each node is at another step: a hand-off is read wherever the key that signed it is held, which is
// everywhere as long as no two nodes are more than one step apart.
func TestDEC08_HandoffBetweenStepsOfARotation(t *testing.T) {
	steps := [][][]byte{{keyX}, {keyX, keyY}, {keyY, keyX}, {keyY}}
	for from, mine := range steps {
		for to, theirs := range steps {
			p := newTwoSites(t)
			setDown(p.dal, "acme-in/dal-1", "acme-in/dal-2")
			p.dal.s.SetKeys(keysOf(mine...))
			p.ash.s.SetKeys(keysOf(theirs...))
			p.dal.from(carrierAddr, invite{body: offer}.String())
			p.ash.packet("", "dal-1", string(p.dal.take("ash-1", "INVITE").Raw()))
			held := slices.ContainsFunc(theirs, func(k []byte) bool { return bytes.Equal(k, mine[0]) })
			if near := from-to <= 1 && to-from <= 1; near && !held {
				t.Errorf("step %d cannot read step %d", to, from)
			}
			if held {
				p.ash.take(ashPBX, "INVITE")
			} else {
				p.ash.take("dal-1", "SIP/2.0 403")
			}
		}
	}
}

func TestDEC09_OwnerIsReadUnderAnOlderKey(t *testing.T) {
	for _, c := range []struct {
		keys      Keys
		forwarded int
	}{{keysOf(keyY, keyX), 1}, {keysOf(keyY), 0}} {
		owner := newWorld(t)
		_, ok := owner.answeredCall()
		w := newWorldOf(t, "dal-2", "dallas", document())
		w.peers = []geo.PeerNode{{Name: "dal-1", Site: "dallas", Fresh: true}}
		w.s.SetKeys(c.keys)
		w.from(carrierAddr, inside(ok, "BYE", 2, "", ""))
		w.advance(time.Second)
		if len(w.forward) != c.forwarded {
			t.Errorf("%d requests were passed to the owner, want %d", len(w.forward), c.forwarded)
		}
	}
}

// The hashes that all nodes compute alike do not change with the keys (DEC-03).
func TestDEC03_SeedOutlivesTheKey(t *testing.T) {
	w := newWorld(t)
	before := w.s.seed
	w.s.SetKeys(keysOf(keyY))
	if w.s.seed != before || before != OpenSeed(keyX) {
		t.Error("the seed changed with the key")
	}
	late := New(Config{Node: "dal-2", HandoffKey: keyY, Seed: OpenSeed(keyX)}, w, w.now)
	if late.seed != before {
		t.Error("a node that starts after the rotation has another seed")
	}
}
