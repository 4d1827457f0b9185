//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tandem-sbc/tandem/lab/dispatcher"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const testMembers = 6

func theKamailio(t *testing.T, userOnly bool) *kamailio {
	t.Helper()
	k, err := startKamailio(t.TempDir(), testMembers, userOnly)
	if errors.Is(err, dispatcher.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Stop(); err != nil {
			t.Error(err)
		}
	})
	return k
}

func placed(t *testing.T, p placer, keys []string) []int {
	t.Helper()
	list, err := p.place(keys)
	if err != nil {
		t.Fatal(p.name(), err)
	}
	return list
}

// C2: hash-mod places every key as a real Kamailio does, with all members up, with
// one and two down, with one taken out, and with one more.
func TestC02_HashModPlacesAsKamailioDoes(t *testing.T) {
	k, ours := theKamailio(t, false), newGroup(trunkgroup.HashMod.String(), testMembers)
	keys := callIDs(5000)
	agree := func(what string) {
		t.Helper()
		theirs, mine := placed(t, k, keys), placed(t, ours, keys)
		for i := range keys {
			if theirs[i] != mine[i] {
				t.Fatalf("%s: Kamailio sends %q to member %d, hash-mod to %d", what, keys[i], theirs[i], mine[i])
			}
		}
	}
	agree("all up")
	for _, p := range []placer{k, ours} {
		for _, member := range []int{0, 3} {
			if err := p.down(member, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	agree("members 0 and 3 down")
	for _, e := range events {
		for _, p := range []placer{k, ours} {
			if err := errors.Join(p.members(upTo(testMembers)), e.do(p, testMembers)); err != nil {
				t.Fatal(err)
			}
		}
		agree(e.name)
	}
}

// K-20, K-21: the other keys that hash-mod takes, against Kamailio's algorithms 1, 2, 3,
// 5 and 7. Of the Request-URI we hash the user, as Kamailio does with flag 1 alone.
func TestK20_K21_HashModOfOtherKeysPlacesAsKamailioDoes(t *testing.T) {
	users := make([]string, 2000)
	for i := range users {
		users[i] = fmt.Sprintf("+1214%07d", i*4099)
	}
	uri := func(user string) []byte { return []byte("sip:" + user + "@example.net") }
	from := func(u string) trunkgroup.Traits { return trunkgroup.Traits{From: uri(u)} }
	to := func(u string) trunkgroup.Traits { return trunkgroup.Traits{To: uri(u)} }
	for _, flags := range []struct {
		userOnly bool
		keys     []otherKey
	}{
		{false, []otherKey{
			{dispatcher.ByFrom, "from", from},
			{dispatcher.ByTo, "to", to},
			{dispatcher.ByAuthUser, "auth-user", func(u string) trunkgroup.Traits { return trunkgroup.Traits{AuthUser: []byte(u)} }},
			{dispatcher.ByString, "header:X-Key", func(u string) trunkgroup.Traits { return trunkgroup.Traits{Headers: oneHeader(u)} }},
		}},
		{true, []otherKey{
			{dispatcher.ByFrom, "from", from},
			{dispatcher.ByTo, "to", to},
			{dispatcher.ByRequestUser, "request-user", func(u string) trunkgroup.Traits { return trunkgroup.Traits{RequestUser: []byte(u)} }},
		}},
	} {
		t.Run(fmt.Sprintf("user only %t", flags.userOnly), func(t *testing.T) {
			k := theKamailio(t, flags.userOnly)
			for _, c := range flags.keys {
				c.agrees(t, k, users, flags.userOnly)
			}
		})
	}
}

// otherKey is a key of hash-mod with Kamailio's algorithm for it.
type otherKey struct {
	by     dispatcher.By
	key    string
	traits func(user string) trunkgroup.Traits
}

func (c otherKey) agrees(t *testing.T, k *kamailio, users []string, userOnly bool) {
	t.Helper()
	ours := newGroup(trunkgroup.HashMod.String(), testMembers)
	ours.userOnly = userOnly && c.key != "request-user" // which is a user already
	if err := ours.rekey(c.key); err != nil {
		t.Fatal(err)
	}
	theirs, err := k.Place(c.by, users)
	if err != nil {
		t.Fatal(c.key, err)
	}
	for i, u := range users {
		mine, err := ours.firstOf(c.traits(u))
		if err != nil {
			t.Fatal(err)
		}
		if theirs[i]-firstPort != mine {
			t.Errorf("%s, user only %t: Kamailio sends %q to member %d, hash-mod to %d", c.key, userOnly, u, theirs[i]-firstPort, mine)
			return
		}
	}
}

type oneHeader string

// HeaderValue implements trunkgroup.HeaderSource.
func (h oneHeader) HeaderValue(string) []byte { return []byte(h) }

// D1: 100,000 keys over six members. What moves is the victim's and nothing else, the
// others take it evenly, and its return restores the map.
func TestD01_OnlyTheVictimsKeysMove(t *testing.T) {
	keys := callIDs(100_000)
	p := newGroup(trunkgroup.HashCallID.String(), testMembers)
	original := placed(t, p, keys)
	for _, e := range events {
		m, err := measure(p, e, keys, testMembers)
		if err != nil {
			t.Fatal(err)
		}
		if m.needless != 0 {
			t.Errorf("%s: %d keys moved without need", e.name, m.needless)
		}
		// A sixth of the keys is the victim's; each of the five others takes a fifth of it.
		if e.mustMove(victim(testMembers), testMembers) {
			if share := m.share(m.moved); math.Abs(share-100.0/testMembers) > 0.5 {
				t.Errorf("%s: %.2f %% of the keys moved", e.name, share)
			}
			if m.least < 17 || m.most > 23 {
				t.Errorf("%s: the others have %+.1f to %+.1f %%, want about +20 each", e.name, m.least, m.most)
			}
		}
		if !slices.Equal(original, placed(t, p, keys)) {
			t.Errorf("%s: undone, the map is another", e.name)
		}
	}
}
