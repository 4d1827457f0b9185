package fsm

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

func stage(document, site string, adjust ...func(*Set)) []byte {
	c := &Stage{Site: site, Set: Set{Cluster: "test", Author: "ann", Reason: "try it", At: at, Document: []byte(document)}}
	for _, f := range adjust {
		f(&c.Set)
	}
	return c.Append(nil)
}

func decide(promote bool, revision uint64) []byte {
	return (&Decide{Cluster: "test", Promote: promote, Revision: revision, Author: "bob", Reason: "seen enough", At: at}).Append(nil)
}

// effective is the version and document that a site runs.
func effective(s *State, site string) (trunkgroup.Version, string) {
	e, _, _ := s.Effective(site)
	return e.Version, string(e.Document)
}

// "Canary = a committed entry 'revision N for site X'; ... promote is a second
// entry" (DEC-25).
func TestDEC25_CanaryThenPromote(t *testing.T) {
	s := New("test")
	if r := s.Apply(stage("a", "dallas")); !errors.Is(r.Err, ErrNoDocument) {
		t.Errorf("a canary before the first document: %+v", r)
	}
	s.Apply(set("a"))
	if r := s.Apply(stage("a", "dallas")); r.Changed || r.Err != nil || r.Version != version(1, 1) {
		t.Errorf("a canary equal to what is in force: %+v", r)
	}
	if r := s.Apply(stage("b", "dallas", expect(7))); r.Err == nil {
		t.Error("a canary made from another revision was taken")
	}
	if r := s.Apply(stage("b", "dallas", expect(1), key("k"))); !r.Changed || r.Version != version(1, 2) {
		t.Fatalf("stage: %+v", r)
	}
	if r := s.Apply(stage("b", "dallas", expect(1), key("k"))); r.Changed || r.Err != nil || r.Version != version(1, 2) {
		t.Errorf("the same stage again: %+v", r)
	}
	if v, doc := effective(s, "dallas"); v != version(1, 2) || doc != "b" {
		t.Errorf("the canary site runs %v %q", v, doc)
	}
	if v, doc := effective(s, "ashburn"); v != version(1, 1) || doc != "a" {
		t.Errorf("the other site runs %v %q", v, doc)
	}
	var canary *CanaryError
	for name, c := range map[string][]byte{"a change": set("c"), "another canary": stage("c", "ashburn")} {
		if r := s.Apply(c); !errors.As(r.Err, &canary) || canary.Site != "dallas" || r.Changed {
			t.Errorf("%s while a canary runs: %+v", name, r)
		}
	}
	if r := s.Apply(decide(true, 9)); !errors.Is(r.Err, ErrNoCanary) {
		t.Errorf("another revision is promoted: %+v", r)
	}
	if r := s.Apply(decide(true, 2)); !r.Changed || r.Version != version(1, 2) {
		t.Errorf("promote: %+v", r)
	}
	if v, doc := effective(s, "ashburn"); v != version(1, 2) || doc != "b" {
		t.Errorf("after the promotion the other site runs %v %q", v, doc)
	}
	if r := s.Apply(decide(false, 0)); !errors.Is(r.Err, ErrNoCanary) {
		t.Errorf("abandon without a canary: %+v", r)
	}
	h := s.History()
	if v := h[1]; len(h) != 2 || v.State != Promoted || v.Site != "dallas" || v.Author != "ann" || v.DecidedBy != "bob" || v.DecidedFor != "seen enough" || !v.DecidedAt.Equal(at) {
		t.Errorf("the history says %+v", v)
	}
}

// An abandoned canary's site goes back by a higher revision with the old document,
// octet for octet, since a table is replaced by a higher version only (DEC-14).
func TestDEC25_CanaryThenAbandon(t *testing.T) {
	s := New("test")
	s.Apply(set("a"))
	s.Apply(stage("b", "dallas"))
	if r := s.Apply(decide(false, 2)); !r.Changed || r.Version != version(1, 3) {
		t.Fatalf("abandon: %+v", r)
	}
	for _, site := range []string{"dallas", "ashburn"} {
		if v, doc := effective(s, site); v != version(1, 3) || doc != "a" {
			t.Errorf("%s runs %v %q", site, v, doc)
		}
	}
	if h := s.History(); h[1].State != Abandoned || h[1].State.String() != "abandoned" || h[2].State != Applied {
		t.Errorf("the history is %+v", h)
	}
}

// A restore or recovery is not held up by a canary, and ends it.
func TestDEC14_RaisedGenerationEndsACanary(t *testing.T) {
	s := New("test")
	s.Apply(set("a"))
	s.Apply(stage("b", "dallas"))
	if r := s.Apply(set("a", generation(2))); !r.Changed || r.Version != version(2, 3) {
		t.Fatalf("restore: %+v", r)
	}
	if _, ok := s.Canary(); ok {
		t.Error("the canary goes on")
	}
	if v, doc := effective(s, "dallas"); v != version(2, 3) || doc != "a" {
		t.Errorf("the site runs %v %q", v, doc)
	}
}

func TestRecall(t *testing.T) {
	past := func(g, r uint64, doc string) []byte {
		return (&Recall{Revision{Entry: Entry{Version: version(g, r), Author: "old", At: at, Document: []byte(doc)}}}).Append(nil)
	}
	s := New("test")
	if r := s.Apply(past(1, 1, "x")); r.Err == nil {
		t.Error("a past revision came before the first one")
	}
	s.Apply(set("now", generation(3)))
	for _, c := range []struct {
		command []byte
		refused bool
	}{
		{past(1, 9, "nine"), false},
		{past(1, 7, "seven"), false},
		{past(1, 7, "another seven"), false},
		{past(3, 1, "x"), true},
		{past(4, 1, "x"), true},
	} {
		if r := s.Apply(c.command); (r.Err != nil) != c.refused || r.Changed {
			t.Errorf("%+v", r)
		}
	}
	var docs []string
	for _, v := range s.History() {
		docs = append(docs, string(v.Document))
	}
	if len(docs) != 3 || docs[0] != "seven" || docs[1] != "nine" || docs[2] != "now" {
		t.Errorf("the history is %q", docs)
	}
	if _, err := s.Snapshot(); err != nil {
		t.Error(err)
	}
}

// A state that never saw a canary is written as protocol 1 reads it.
func TestSnapshotVersions(t *testing.T) {
	s := New("test")
	s.Apply(set("a"))
	b, _ := s.Snapshot()
	if b[len(snapshotMagic)] != snapshotPlain {
		t.Error("a plain state is written as version 2")
	}
	s.Apply(stage("b", "dallas"))
	s.Apply(decide(true, 0))
	c, _ := s.Snapshot()
	again, err := Restore("test", c)
	if err != nil || c[len(snapshotMagic)] != snapshotCanary || !equal(s, again) {
		t.Errorf("version %d, %v", c[len(snapshotMagic)], err)
	}
}

func TestCheckCanary(t *testing.T) {
	good := Set{Cluster: "test", Document: []byte("x")}
	raised := good
	raised.Generation = 2
	for name, c := range map[string]Command{
		"no site":               &Stage{Set: good},
		"a raised generation":   &Stage{Set: raised, Site: "x"},
		"a long site":           &Stage{Set: good, Site: string(make([]byte, MaxName+1))},
		"no cluster":            &Decide{},
		"a long reason":         &Decide{Cluster: "x", Reason: string(make([]byte, MaxReason+1))},
		"no version":            &Recall{},
		"a past without a text": &Recall{Revision{Entry: Entry{Version: version(1, 1)}}},
		"a past canary":         &Recall{Revision{Entry: Entry{Version: version(1, 1), Document: []byte("x")}, State: Staged}},
	} {
		if c.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := (&Stage{Set: good, Site: "dallas"}).Check(); err != nil {
		t.Error(err)
	}
}

func drawCommand(t *rapid.T) Command {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		c := drawSet(t)
		c.Generation = 0
		return &Stage{Set: *c, Site: rapid.SampledFrom([]string{"dallas", "ashburn"}).Draw(t, "site")}
	case 1:
		return &Decide{
			Cluster: "test", Promote: rapid.Bool().Draw(t, "promote"), Revision: rapid.Uint64Range(0, 4).Draw(t, "revision"),
			Author: "bob", Key: rapid.SampledFrom([]string{"", "a", "d"}).Draw(t, "key"), At: time.UnixMilli(1e12).UTC(),
		}
	case 2:
		return &Recall{Revision{Entry: Entry{
			Version: version(rapid.Uint64Range(1, 2).Draw(t, "g"), rapid.Uint64Range(1, 9).Draw(t, "r")), Document: []byte("past"),
		}}}
	}
	return drawSet(t)
}

// With canaries too, Apply is deterministic, a restored state goes the same way,
// versions only rise, and each site's version only rises (DEC-14).
func TestCanaryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, two := New("test"), New("test")
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			c := drawCommand(t)
			wire := c.Append(nil)
			again, err := Decode(wire)
			if err != nil || !bytes.Equal(again.Append(nil), wire) {
				t.Fatalf("%+v became %+v, %v", c, again, err)
			}
			before := map[string]trunkgroup.Version{}
			for _, site := range []string{"dallas", "ashburn"} {
				before[site], _ = effective(one, site)
			}
			x, y := one.Apply(wire), two.Apply(wire)
			if x.Version != y.Version || x.Changed != y.Changed || (x.Err == nil) != (y.Err == nil) {
				t.Fatalf("one command, two results: %+v and %+v", x, y)
			}
			for site, old := range before {
				if v, _ := effective(one, site); v != old && !v.Newer(old) {
					t.Fatalf("%s went from %v to %v", site, old, v)
				}
			}
			b, err := two.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			if two, err = Restore("test", b); err != nil || !equal(one, two) {
				t.Fatalf("a restored state went another way: %v", err)
			}
		}
	})
}
