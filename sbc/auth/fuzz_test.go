package auth

import (
	"bytes"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// FuzzAuthorization: no input panics or is taken for right, and what is parsed is part of the input.
func FuzzAuthorization(f *testing.F) {
	v := newTestVerifier(f, Options{})
	ch := challenges(v, testStart, false)
	f.Add([]byte(answer(f, ch[0], "acme", "guess", "INVITE", testURI, 1)))
	f.Add([]byte(answer(f, ch[2], "nobody", "guess", "INVITE", testURI, 1)))
	for _, v := range vectors {
		f.Add([]byte(v.header))
	}
	f.Add([]byte(`Digest username="a",realm="`))
	f.Add([]byte("Digest username=\"\\\"\",realm=r,nonce=,\t,uri=x,response=\"\""))
	f.Fuzz(func(t *testing.T, header []byte) {
		before := bytes.Clone(header)
		if got := ask(v, testStart, string(header)); got.Outcome == OK || got.Outcome == Stale {
			t.Fatalf("%q: %+v", header, got)
		}
		p, digest, err := parse(header)
		if !bytes.Equal(before, header) {
			t.Fatal("the parser changed its input")
		}
		if !digest || err != nil {
			return
		}
		for _, field := range [][]byte{p.username, p.realm, p.nonce, p.uri, p.response, p.algorithm, p.cnonce, p.qop, p.nc, p.userhash} {
			if !bytes.Contains(header, field) {
				t.Fatalf("%q is not in %q", field, header)
			}
		}
		unescape(p.username)
	})
}

func BenchmarkVerify(b *testing.B) {
	for i, name := range trunkgroup.AlgorithmNames() {
		b.Run(name, func(b *testing.B) {
			v := newTestVerifier(b, Options{})
			header := []byte(answer(b, challenges(v, testStart, false)[i], "acme", "s3cret", "INVITE", testURI, 1))
			req := Request{Source: testSource, Method: "INVITE", URI: []byte(testURI), Realm: testRealm, Lookup: testLookup}
			b.ReportAllocs()
			for b.Loop() {
				v.Verify(testStart, &req, header)
			}
		})
	}
}

func BenchmarkChallenge(b *testing.B) {
	v := newTestVerifier(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		v.Challenge(testStart, testSource, testRealm, false)
	}
}
