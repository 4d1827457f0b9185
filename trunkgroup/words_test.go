package trunkgroup

import (
	"encoding"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Every word that a document may say is read back as it was written.
func TestWords(t *testing.T) {
	check := func(names []string, empty func() encoding.TextUnmarshaler) {
		for _, name := range names {
			v := empty()
			if err := v.UnmarshalText([]byte(name)); err != nil {
				t.Error(err)
			}
			text, err := v.(encoding.TextMarshaler).MarshalText()
			if err != nil || string(text) != name {
				t.Errorf("%q became %q, %v", name, text, err)
			}
		}
		if err := empty().UnmarshalText([]byte("nonsense")); err == nil {
			t.Errorf("%T reads nonsense", empty())
		}
		if err := empty().UnmarshalText(nil); err != nil {
			t.Errorf("%T does not read nothing: %v", empty(), err)
		}
	}
	check(TransportNames(), func() encoding.TextUnmarshaler { return new(Transport) })
	check(RoleNames(), func() encoding.TextUnmarshaler { return new(Role) })
	check(MethodNames(), func() encoding.TextUnmarshaler { return new(Method) })
	check(SessionSourceNames(), func() encoding.TextUnmarshaler { return new(SessionSource) })
	check(FormatNames(), func() encoding.TextUnmarshaler { return new(Format) })
	check([]string{"4s", "1m30s", "250ms", "off"}, func() encoding.TextUnmarshaler { return new(Duration) })
	for _, bad := range []string{"4", "-4s", "0s", "forever"} {
		if d, err := ParseDuration(bad); err == nil {
			t.Errorf("%q is read as %s", bad, d)
		}
	}
}

func TestTransport(t *testing.T) {
	for _, tr := range []Transport{TCP, TLS, WS, WSS, Interconnect} {
		if !tr.Reliable() || tr.String() == "" {
			t.Errorf("%d %q: reliable %t", tr, tr, tr.Reliable())
		}
	}
	if UDP.Reliable() || UDP.DefaultPort() != 5060 || TLS.DefaultPort() != 5061 {
		t.Error("UDP is unreliable; ports are 5060 and 5061")
	}
}

// The document goes through the log of the cluster and the admin API as JSON.
func TestDocumentJSON(t *testing.T) {
	d := testDocument()
	repeats := 0
	d.TrunkGroups[0].Monitoring.Repeats = &repeats
	d.TrunkGroups[0].Timers.MaxPDD = Off
	d.TrunkGroups[0].Limits = LimitsSpec{Calls: 3, MaxDuration: Duration(time.Hour), StaticShare: map[string]int{"dallas": 3}}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again Document
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(d, &again) {
		t.Errorf("the document changed: %s", text)
	}
}

func TestCauseSet(t *testing.T) {
	s := Causes(503, 408, 200, 699, 100, 700)
	if got, want := s.Codes(), []int{200, 408, 503, 699}; !reflect.DeepEqual(got, want) {
		t.Errorf("codes %v, want %v", got, want)
	}
	if s.Has(100) || s.Has(700) || s.Has(-1) || !s.Has(503) || s.Empty() || s == Causes() || s != Causes(200, 408, 503, 699) {
		t.Error("membership or equality is wrong")
	}
}

func TestDEC14_VersionNewer(t *testing.T) {
	for _, c := range []struct {
		a, b Version
		want bool
	}{
		{Version{"c", 1, 5}, Version{"c", 1, 4}, true},
		{Version{"c", 1, 5}, Version{"c", 1, 5}, false},
		{Version{"c", 2, 1}, Version{"c", 1, 900}, true}, // after a restore
		{Version{"c", 1, 900}, Version{"c", 2, 1}, false},
	} {
		if got := c.a.Newer(c.b); got != c.want {
			t.Errorf("%s newer than %s: %t", c.a, c.b, got)
		}
	}
}

func TestStates(t *testing.T) {
	selectable := map[State]bool{Active: true, Trying: true, Unknown: true}
	for _, s := range States() {
		if s.Selectable() != selectable[s] {
			t.Errorf("%s selectable: %t", s, s.Selectable())
		}
	}
	if State(99).String() != "invalid" || AdminState(99).String() != "invalid" {
		t.Error("numbers outside must not pass for states")
	}
	for _, a := range []AdminState{AdminUp, AdminDraining, AdminDisabled} {
		if got, ok := ParseAdminState(a.String()); !ok || got != a {
			t.Errorf("%s is read as %s", a, got)
		}
	}
}

func TestSuggest(t *testing.T) {
	for word, want := range map[string]string{
		"dalas":   `did you mean "dallas"?`,
		"dlalas":  `did you mean "dallas"?`, // a swap is one edit
		"Ashburn": `did you mean "ashburn"?`,
		"houston": "use one of: ashburn, dallas",
	} {
		if got := Suggest(word, []string{"dallas", "ashburn"}); got != want {
			t.Errorf("%s: %s", word, got)
		}
	}
}
