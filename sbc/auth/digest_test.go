package auth

import (
	"strings"
	"testing"
)

// vector is one worked example.
type vector struct {
	name, hash, header, method, user, realm, password string
}

var vectors = []vector{
	{
		name: "RFC 7616 3.9.1 MD5", hash: "MD5", method: "GET", user: "Mufasa", realm: "http-auth@example.org", password: "Circle of Life",
		header: `Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=MD5, ` +
			`nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", ` +
			`qop=auth, response="8ca523f5e9506fed4657c9700eebdbec", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
	},
	{
		name: "RFC 7616 3.9.1 SHA-256", hash: "SHA-256", method: "GET", user: "Mufasa", realm: "http-auth@example.org", password: "Circle of Life",
		header: `Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=SHA-256, ` +
			`nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", ` +
			`qop=auth, response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", ` +
			`opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
	},
	{
		// The response that is printed in the RFC is not SHA-512/256 of its inputs; its erratum gives this one.
		name: "RFC 7616 3.9.2 SHA-512-256", hash: "SHA-512-256", method: "GET", user: "J\u00e4s\u00f8n Doe", realm: "api@example.org",
		password: "Secret, or not?",
		header: `Digest username="488869477bf257147b804c45308cd62ac4e25eb717b12b298c79e62dcea254ec", realm="api@example.org", ` +
			`uri="/doe.json", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", nc=00000001, ` +
			`cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", qop=auth, ` +
			`response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", ` +
			`opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", userhash=true`,
	},
	{
		name: "RFC 2617 3.5 MD5", hash: "MD5", method: "GET", user: "Mufasa", realm: "testrealm@host.com", password: "Circle Of Life",
		header: `Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", uri="/dir/index.html", ` +
			`qop=auth, nc=00000001, cnonce="0a4f113b", response="6629fae49393a05397450978507c4ef1", opaque="5ccc069c403ebaf9f0171e9517f40e41"`,
	},
	{
		// No qop: the form of RFC 2069 with the inputs of RFC 2617.
		name: "RFC 2069 form", hash: "MD5", method: "GET", user: "Mufasa", realm: "testrealm@host.com", password: "Circle Of Life",
		header: `Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", uri="/dir/index.html", ` +
			`response="670fd8c2df070c60b045671b8b24ff02"`,
	},
}

func TestRFC7616_Vectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			p, digest, err := parse([]byte(v.header))
			if err != nil || !digest {
				t.Fatalf("parse: %v, %v", digest, err)
			}
			hash := ParseAlgorithm(p.algorithm)
			ha1 := ha1Of(v.hash, v.user, v.realm, v.password)
			if got := string(hash.appendResponse(nil, []byte(ha1), v.method, &p)); got != string(p.response) {
				t.Errorf("response = %s, want %s", got, p.response)
			}
		})
	}
}

func TestHA1(t *testing.T) {
	// RFC 2617 section 3.5 names its inputs; this is their A1 digest.
	if got := ha1Of("MD5", "Mufasa", "testrealm@host.com", "Circle Of Life"); got != "939e7578ed9e3c518a452acee763bce9" {
		t.Errorf("MD5 HA1 = %s", got)
	}
	if got := len(ha1Of("sha-256", "u", "r", "p")); got != 64 {
		t.Errorf("SHA-256 HA1 has %d digits", got)
	}
	if got := ha1Of("MD5-sess", "u", "r", "p"); got != "" {
		t.Errorf("unknown hash gives %q", got)
	}
}

// An answer with long fields leaves the stack buffers and must still be right.
func TestLongFields(t *testing.T) {
	long := strings.Repeat("x", 3*scratch)
	p := params{nonce: []byte(long), uri: []byte("sip:" + long), cnonce: []byte(long), nc: []byte("00000001"), qop: []byte("auth")}
	got := string(MD5.appendResponse(nil, []byte(long[:32]), "INVITE", &p))
	ha2 := string(MD5.AppendHash(nil, []byte("INVITE:sip:"+long)))
	want := string(MD5.AppendHash(nil, []byte(long[:32]+":"+long+":00000001:"+long+":auth:"+ha2)))
	if got != want {
		t.Errorf("response = %s, want %s", got, want)
	}
}

func TestParse(t *testing.T) {
	const whole = `username="a", realm="r", nonce="n", uri="sip:x", response="00"`
	for _, c := range []struct {
		name, in    string
		digest, bad bool
	}{
		{"plain", "Digest " + whole, true, false},
		{"case, tabs, folds, empty elements", "dIGEST\t" + strings.ReplaceAll(whole, ", ", " ,\r\n ,\t"), true, false},
		{"unquoted uri", `Digest username="a",realm="r",nonce="n",uri=sip:x,response=00`, true, false},
		{"unknown parameter", "Digest " + whole + `, auts="x", foo=bar`, true, false},
		{"escape", `Digest username="a\"b", realm="r", nonce="n", uri="sip:x", response="00"`, true, false},
		{"basic", "Basic QWxhZGRpbg==", false, false},
		{"nothing", "", false, false},
		{"scheme only", "Digest", true, true},
		{"no comma", strings.Replace("Digest "+whole, ",", "", 1), true, true},
		{"truncated", `Digest username="a",realm="`, true, true},
		{"ends in a backslash", `Digest username="a\`, true, true},
		{"twice", "Digest " + whole + `, nonce="m"`, true, true},
		{"no value", "Digest " + whole + `, cnonce=`, true, true},
		{"no name", "Digest =x, " + whole, true, true},
		{"missing response", `Digest username="a", realm="r", nonce="n", uri="sip:x"`, true, true},
	} {
		p, digest, err := parse([]byte(c.in))
		if digest != c.digest || (err != nil) != c.bad {
			t.Errorf("%s: digest %v, error %v", c.name, digest, err)
		}
		if digest && err == nil && (string(p.realm) != "r" || string(p.uri) != "sip:x" || string(p.response) != "00") {
			t.Errorf("%s: parsed %q %q %q", c.name, p.realm, p.uri, p.response)
		}
	}
	if got := string(unescape([]byte(`a\"b\\c`))); got != `a"b\c` {
		t.Errorf("unescape = %s", got)
	}
}

func TestSameURI(t *testing.T) {
	for _, c := range []struct {
		uri, ruri string
		same      bool
	}{
		{"sip:+12145550100@sbc.example.net", "sip:+12145550100@sbc.example.net", true},
		{"SIP:bob@SBC.Example.net;transport=tcp", "sip:bob@sbc.example.NET;transport=tcp", true},
		{"sip:Bob@sbc.example.net", "sip:bob@sbc.example.net", false},
		{"sip:bob@sbc.example.net", "sip:bob@sbc.example.net:5060", false},
		{"sip:bob@sbc.example.net;a=1", "sip:bob@sbc.example.net;A=1", false},
		{"sip:other@127.0.0.1", "sip:19005551234@127.0.0.1", false},
		{"sip:a@b", "tel:a@b", false},
		{"a@b", "A@b", false},
		{"sip:a@b", "sip:a%b", false},
		{"sip:ab", "sipab:", false},
	} {
		if got := sameURI([]byte(c.uri), []byte(c.ruri)); got != c.same {
			t.Errorf("sameURI(%q, %q) = %v", c.uri, c.ruri, got)
		}
	}
}

// ha1Of is the stored form of a password for one hash: lower-case hexadecimal of H(username ":" realm ":" password). hash is "MD5",
// "SHA-256" or "SHA-512-256"; anything else gives "".
func ha1Of(hash, username, realm, password string) string {
	a := ParseAlgorithm([]byte(hash))
	if a == NoAlgorithm {
		return ""
	}
	return string(a.AppendHash(nil, []byte(username+":"+realm+":"+password)))
}
