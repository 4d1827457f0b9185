package mint

import (
	"testing"

	"pgregory.net/rapid"
)

func TestDEC09_MintedIdentifierNamesItsOwner(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	dallas := New(key, NodeID("dal-1"), 7)
	ashburn := New(key, NodeID("ash-1"), 3)
	rapid.Check(t, func(t *rapid.T) {
		shard := rapid.Uint8().Draw(t, "shard")
		random := rapid.Uint64().Draw(t, "random")
		text := dallas.Mint(shard, random)
		id, ok := ashburn.Parse([]byte(text))
		want := ID{Node: NodeID("dal-1"), Boot: 7, Shard: shard, Random: random}
		if !ok || id != want {
			t.Fatalf("Parse(%q) = %+v, %v; want %+v", text, id, ok, want)
		}
		if ashburn.Own(id) || !dallas.Own(id) {
			t.Fatalf("the identifier belongs to the node that made it")
		}
	})
}

func TestDEC09_ForgedIdentifierIsRefused(t *testing.T) {
	ours := New([]byte("0123456789abcdef0123456789abcdef"), NodeID("dal-1"), 7)
	theirs := New([]byte("another key, another key, another"), NodeID("dal-1"), 7)
	if _, ok := ours.Parse([]byte(theirs.Mint(0, 42))); ok {
		t.Error("an identifier under another key verified")
	}
	text := []byte(ours.Mint(0, 42))
	for i := range text {
		bad := append([]byte(nil), text...)
		bad[i] ^= 1
		if id, ok := ours.Parse(bad); ok {
			t.Errorf("byte %d changed and it still verified: %+v", i, id)
		}
	}
}

func FuzzParse(f *testing.F) {
	m := New([]byte("0123456789abcdef0123456789abcdef"), 1, 1)
	f.Add([]byte(m.Mint(1, 2)))
	f.Add([]byte("t"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if id, ok := m.Parse(b); ok && id.Node != 1 {
			t.Fatalf("forged identifier %+v", id)
		}
	})
}

func BenchmarkMint(b *testing.B) {
	m := New([]byte("0123456789abcdef0123456789abcdef"), 1, 1)
	b.ReportAllocs()
	for b.Loop() {
		m.Mint(1, 2)
	}
}

// While a cluster changes its key, nodes read what is minted under either.
func TestDEC09_KeyRotation(t *testing.T) {
	old, fresh := []byte("0123456789abcdef-old"), []byte("0123456789abcdef-new")
	m, other := New(old, 1, 1), New(fresh, 2, 1)
	before := []byte(m.Mint(3, 4))
	if _, ok := other.Parse(before); ok {
		t.Fatal("read without its key")
	}
	other.SetKeys(fresh, old)
	if id, ok := other.Parse(before); !ok || id.Shard != 3 {
		t.Errorf("%+v, %v", id, ok)
	}
	after := []byte(other.Mint(5, 6))
	if _, ok := m.Parse(after); ok {
		t.Error("read by a node that does not hold the new key")
	}
	m.SetKeys(old, fresh)
	if _, ok := m.Parse(after); !ok {
		t.Error("not read by a node that holds both")
	}
	m.SetKeys(fresh)
	if _, ok := m.Parse(before); ok {
		t.Error("read after its key was removed")
	}
}
