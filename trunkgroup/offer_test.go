package trunkgroup

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the credentials of a realm have, an algorithm is left out only while
// each of them keeps one.
func TestRFC8760_OfferLocksNobodyOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Offer
		var held [][]string
		for range rapid.IntRange(1, 5).Draw(t, "credentials") {
			set := rapid.SliceOfNDistinct(rapid.SampledFrom(AlgorithmNames()), 1, 3, rapid.ID[string]).Draw(t, "algorithms")
			held, o = append(held, set), o.with(set)
		}
		for _, a := range AlgorithmNames() {
			any := slices.ContainsFunc(held, func(set []string) bool { return slices.Contains(set, a) })
			if o.Has(a) != any {
				t.Fatalf("%s: offered %v, held %v", a, o.Has(a), any)
			}
		}
		for _, a := range rapid.Permutation(AlgorithmNames()).Draw(t, "order") {
			less, ok := o.Without(a)
			if ok == (less == o) {
				t.Fatalf("without %s: %v, and %v after %v", a, ok, less, o)
			}
			o = less
			for _, set := range held {
				if !slices.ContainsFunc(set, o.Has) {
					t.Fatalf("after %s nothing is left for %v", a, set)
				}
			}
		}
		left := 0
		for _, a := range AlgorithmNames() {
			if o.Has(a) {
				left++
			}
		}
		if left == 0 {
			t.Fatal("nothing is offered")
		}
	})
}

func TestP11_OfferIsOfTheRealm(t *testing.T) {
	var table Table
	table.offers = map[string]Offer{"a.example": offerOf(AlgorithmMD5)}
	for realm, want := range map[string][]string{
		"a.example": {AlgorithmMD5},
		"b.example": {AlgorithmSHA256, AlgorithmMD5},
	} {
		var got []string
		for _, a := range AlgorithmNames() {
			if table.Offer(realm).Has(a) {
				got = append(got, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", realm, got, want)
		}
	}
	if table.Offer("a.example").Has("MD5-sess") {
		t.Error("an unknown algorithm is offered")
	}
}
