package sip

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseNameAddr(t *testing.T) {
	for in, want := range map[string]string{
		`<sip:a@b>`:                               `|sip:a@b|`,
		`"A \"B\", C" <sip:a@b>;tag=1;x="y;z"`:    `A \"B\", C|sip:a@b|tag=1;x="y;z"`,
		`  Alice B. <sip:a@b;lr?x=y> ; tag = 99 `: `Alice B.|sip:a@b;lr?x=y|tag = 99`,
		`caller<sip:a@b>`:                         `caller|sip:a@b|`,
		`sip:a@b;tag=1`:                           `|sip:a@b|tag=1`,
		`sip:a@b ; tag=1`:                         `|sip:a@b|tag=1`,
		`token1~` + "`" + ` t2'+_ <sip:a@b>`:      `token1~` + "`" + ` t2'+_|sip:a@b|`,
		`"" <tel:+1>`:                             `|tel:+1|`,
		`<sip:a@b>;+sip.instance="<urn:uuid:0>"`:  `|sip:a@b|+sip.instance="<urn:uuid:0>"`,
		`sip:a@b;p="<x>"`:                         `|sip:a@b|p="<x>"`,
		`Петя <sip:a@b>`:                          `Петя|sip:a@b|`,
		``:                                        `bad`,
		`<>`:                                      `bad`,
		`<sip:a@b`:                                `bad`,
		`sip:a@b>`:                                `bad`,
		`< sip:a@b>`:                              `bad`,
		`<sip:a@b >`:                              `bad`,
		`<sip:a@b><sip:c@d>`:                      `bad`,
		`<sip:a@b> x`:                             `bad`,
		`"A <sip:a@b>`:                            `bad`,
		`"A" sip:a@b`:                             `bad`,
		`"A\`:                                     `bad`,
		`A, B <sip:a@b>`:                          `bad`,
		`sip:a@b?x=y`:                             `bad`,
		`sip:a@b c`:                               `bad`,
		`<sip:a@b>;`:                              `bad`,
		`<sip:a@b>;;x`:                            `bad`,
		`<sip:a@b>;=x`:                            `bad`,
		`<sip:a@b>;x=`:                            `bad`,
		`<sip:a@b>;x="y`:                          `bad`,
		`<sip:a@b>;x=y z`:                         `bad`,
		`<sip:a@b>;tag=1;tag=2`:                   `bad`,
		`<sip:a@b>;tag`:                           `bad`,
		`<sip:a@b>;tag="1"`:                       `bad`,
		`<sip:a@b>,<sip:c@d>`:                     `bad`,
	} {
		a, err := ParseNameAddr([]byte(in))
		got := fmt.Sprintf("%s|%s|%s", a.Display, a.URI, a.Params)
		if err != nil {
			got = "bad"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestParam(t *testing.T) {
	const params = `;a=1; B = "x;y=z" ;flag;c="\"q\"";tag=99;empty=;a=2`
	for name, want := range map[string]string{
		"a": "1", "b": "x;y=z", "FLAG": "flag", "c": `\"q\"`, "Tag": "99", "empty": "", "y": "absent", "x": "absent", "": "absent",
	} {
		v, ok := Param([]byte(params), name)
		got := string(v)
		switch {
		case !ok:
			got = "absent"
		case v == nil:
			got = "flag"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if _, ok := Param([]byte(`a="open;b=1`), "b"); ok {
		t.Error("an open quote takes the rest")
	}
}

func TestEachValue(t *testing.T) {
	for in, want := range map[string]string{
		`a, b ,c`:                        `a|b|c`,
		`"x,y" <sip:a,b@c>;p="q,r", <d>`: `"x,y" <sip:a,b@c>;p="q,r"|<d>`,
		`,, a,,`:                         `a`,
		``:                               ``,
		`"open, b`:                       `"open, b`,
		`<open, b`:                       `<open, b`,
		`"a\",b",c`:                      `"a\",b"|c`,
	} {
		var got []string
		EachValue([]byte(in), func(v []byte) bool { got = append(got, string(v)); return true })
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %s", in, got, want)
		}
	}
	n := 0
	EachValue([]byte("a,b,c"), func([]byte) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("went on after false: %d", n)
	}
}

func TestHeaderLookup(t *testing.T) {
	for id := Via; id < headerCount; id++ {
		name := headerNames[id]
		if name == "" || len(name) > longestName {
			t.Errorf("header %d: name %q", id, name)
		}
		for _, spelling := range []string{name, strings.ToUpper(name), strings.ToLower(name)} {
			if got := lookupHeader([]byte(spelling)); got != id {
				t.Errorf("%s: %d, want %d", spelling, got, id)
			}
		}
	}
	for name, want := range map[string]HeaderID{
		"v": Via, "F": From, "t": To, "i": CallID, "m": Contact, "l": ContentLength, "c": ContentType, "k": Supported, "e": ContentEncoding,
		"s": Subject, "r": ReferTo, "b": ReferredBy, "o": Event, "u": AllowEvents, "x": SessionExpires, "y": Identity,
		"q": Other, "1": Other, "": Other, "Vi": Other, "X-Unknown": Other, strings.Repeat("a", 300): Other,
	} {
		if got := lookupHeader([]byte(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestMessageLists(t *testing.T) {
	m := mustParse(t, edit(t, "Max-Forwards: 70\r\n", "Max-Forwards: 70\r\nSupported: timer, 100rel\r\nk: Replaces\r\n"+
		"Route: <sip:p1;lr>, <sip:p2;lr>\r\nRoute: <sip:p3;lr>\r\nProxy-Authorization: Digest a=\"b\", c=d\r\nX-Own: 1\r\n"))
	collect := func(id HeaderID) string {
		var got []string
		m.EachOf(id, func(v []byte) bool { got = append(got, string(v)); return true })
		return strings.Join(got, "|")
	}
	for _, c := range []struct{ name, got, want string }{
		{"supported", collect(Supported), "timer|100rel|Replaces"},
		{"route", collect(Route), "<sip:p1;lr>|<sip:p2;lr>|<sip:p3;lr>"},
		{"first route", string(m.Header(Route)), "<sip:p1;lr>"},
		{"credentials stay whole", collect(ProxyAuthorization), `Digest a="b", c=d`},
		{"options", fmt.Sprint(m.HasOption(Supported, "TIMER"), m.HasOption(Supported, "100"), m.HasOption(Require, "timer")), "true false false"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	n := 0
	m.Each(func(h Header) bool { n++; return h.ID != From })
	if n != 9 {
		t.Errorf("Each went over %d headers until From", n)
	}
}
