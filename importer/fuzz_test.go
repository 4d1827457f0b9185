package importer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maxFuzz keeps inputs of the fuzzer small: the bounds have tests of their own.
const maxFuzz = 16 << 10

// seed adds the sample files of a system.
func seed(f *testing.F, pattern string) {
	f.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		f.Fatalf("%s: %v, %d files", pattern, err, len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// FuzzKamailio: whatever the texts are, there is an error, or a document without a
// fault whose YAML reads back.
func FuzzKamailio(f *testing.F) {
	seed(f, "testdata/kamailio/*")
	for _, text := range []string{
		"1 sip:h1 0 0 duid=;weight=x;=\n", "id,setid,destination\n1,1,sip:a\n", "INSERT INTO dispatcher VALUES (1,1,'sip:a',0,0,'',''", "insert into dispatcher",
		"route { ds_select_dst(1,", "#!define A 1\nmodparam(\"dispatcher\", \"flags\", A)\n", "/*", "'", "1 sip:[::1]:5060;transport=tls\n1 sip:[::1", "1 sip:0.0.0.0\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxFuzz {
			return
		}
		for algorithm := range 3 {
			number := []int{dsWeight, dsSerial, dsVariable}[algorithm]
			o := KamailioOptions{Algorithm: &number, Params: map[string]string{"ds_ping_interval": "5", "use_default": "1"}, Roles: map[int]trunkgroup.Role{2: trunkgroup.OriginationCustomer, 3: trunkgroup.TerminationCustomer}}
			in := []Input{{Name: "a", Text: text}, {Name: "b", Text: []byte("1 sip:198.51.100.1\n2 sip:198.51.100.1\n")}}
			if r, err := Kamailio(in, o); err == nil {
				whole(t, r)
			}
		}
	})
}

// FuzzSiphon is the same for siphon.yaml.
func FuzzSiphon(f *testing.F) {
	seed(f, "testdata/siphon/*")
	f.Add([]byte("gateway: {groups: [{name: a, destinations: [{uri: 'sip:x', weight: 99999, priority: -1, auth: {username: \"a\\\"b\", ha1: zz}}]}]}"))
	f.Add([]byte("a: &a {gateway: *a}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxFuzz {
			return
		}
		if r, err := Siphon([]Input{{Name: "a", Text: text}}, SiphonOptions{Target: Target{Hash: fakeHash}, Realm: "r"}); err == nil {
			whole(t, r)
		}
	})
}

// FuzzRoutr is the same for resources of Routr.
func FuzzRoutr(f *testing.F) {
	seed(f, "testdata/routr/*")
	f.Add([]byte("[{apiVersion: v2, kind: Peer, ref: a, spec: {aor: 'sip:a@b', username: a, contactAddr: '1.2.3.4:5'}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxFuzz {
			return
		}
		if r, err := Routr([]Input{{Name: "a", Text: text}}, RoutrOptions{Target: Target{Hash: fakeHash}}); err == nil {
			whole(t, r)
		}
	})
}

// FuzzRule: prefixes of a rule are prefixes that a route plan takes.
func FuzzRule(f *testing.F) {
	for _, rule := range []string{".*", "^\\+1(214|469).*", "^911$", "^(a|b|(c|d))*", "^\\+[2-9]{4}"} {
		f.Add(rule)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		prefixes, _, err := prefixesOf(rule)
		if err != nil {
			return
		}
		for _, p := range prefixes {
			if p != "*" && (len(p) < 2 || p[0] != '+') && (len(p) > 6 || p == "") {
				t.Errorf("%q gives the prefix %q", rule, p)
			}
		}
	})
}
