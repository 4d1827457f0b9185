package hunt

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDEC06_AttemptsCross(t *testing.T) {
	attempts := []Attempt{
		{Site: "ashburn", Group: "acme-in", Member: "pbx-3", Code: 503, Dialed: true, Progress: true, Final: true, Elapsed: 118 * time.Millisecond},
		{Site: "ashburn", Group: "acme-in", Member: "pbx-4", Code: 408, Dialed: true, Elapsed: 4 * time.Second, Cause: CauseNoResponse},
		{Site: "ashburn", Group: "carrier-b", Member: "b1", Code: 503, Dialed: true, Fork: 2},
		{Site: "ashburn", Group: "carrier-c", Member: "c1", Code: 503, Dialed: true, Route: 3},
		{Site: "ashburn", Group: "acme, \"in\"; x", Member: "a%b\r\nEvil: 1", Code: 503, Cause: "down"},
	}
	text := AppendAttempts(nil, attempts, false)
	want := "1;exhausted,ashburn;acme-in;pbx-3;503;dpf;118;,ashburn;acme-in;pbx-4;408;d;4000;no_response," +
		"ashburn;carrier-b;b1;503;d;0;;2,ashburn;carrier-c;c1;503;d;0;;0;3," +
		"ashburn;acme%2C%20%22in%22%3B%20x;a%25b%0D%0AEvil:%201;503;;0;down"
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	for i := range attempts {
		attempts[i].Target = i
	}
	for _, definitive := range []bool{false, true} {
		got, last, err := ParseAttempts(AppendAttempts(nil, attempts, definitive))
		if err != nil || last != definitive || !reflect.DeepEqual(got, attempts) {
			t.Errorf("read back %+v, definitive %v, %v", got, last, err)
		}
	}
}

func TestDEC06_AttemptsOfAnotherVersion(t *testing.T) {
	for _, tt := range []struct {
		text string
		ok   bool
		n    int
	}{
		{"1;exhausted", true, 0},
		{"1;definitive;more", true, 0},
		{" 1;exhausted , a;b;c;503;d;7;x;and;more", true, 1},
		{"1;exhausted,a;b;c;0;dx;7;", true, 1},
		{"1;exhausted,a;b;c;503;d;7;x;3", true, 1},
		{"1;exhausted,a;b;c;503;d;7;x;65536", true, 1},
		{"1;exhausted,a;b;c;503;d;7;x;-1", true, 1},
		{"", false, 0},
		{"2;exhausted", false, 0},
		{"1;perhaps", false, 0},
		{"1", false, 0},
		{"1;exhausted,", false, 0},
		{"1;exhausted,a;b;c;503;d;7", false, 0},
		{"1;exhausted,a;b;c;700;d;7;x", false, 0},
		{"1;exhausted,a;b;c;-1;d;7;x", false, 0},
		{"1;exhausted,a;b;c;x;d;7;x", false, 0},
		{"1;exhausted,a;b;c;503;d;99999999999;x", false, 0},
		{"1;exhausted,a%;b;c;503;d;7;x", false, 0},
		{"1;exhausted,a;b%4;c;503;d;7;x", false, 0},
		{"1;exhausted,a;b;c;503;d;7;%zz", false, 0},
		{"1;exhausted," + strings.Repeat("a;b;c;503;d;7;x,", maxList+1), false, 0},
		{"1;exhausted," + strings.Repeat("a", maxListBytes), false, 0},
	} {
		got, _, err := ParseAttempts([]byte(tt.text))
		if (err == nil) != tt.ok || len(got) != tt.n {
			t.Errorf("%.60q: %d attempts, %v", tt.text, len(got), err)
		}
	}
}

func TestAttemptsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []Attempt
		for i := range rapid.IntRange(0, 6).Draw(t, "n") {
			want = append(want, Attempt{
				Target: i, Code: rapid.IntRange(0, 699).Draw(t, "code"),
				Cause: rapid.String().Draw(t, "cause"), Site: rapid.String().Draw(t, "site"),
				Group: rapid.String().Draw(t, "group"), Member: rapid.String().Draw(t, "member"),
				Dialed: rapid.Bool().Draw(t, "dialed"), Progress: rapid.Bool().Draw(t, "progress"), Final: rapid.Bool().Draw(t, "final"),
				Fork:    uint16(rapid.SampledFrom([]int{0, 0, 1, 7, 65535}).Draw(t, "fork")),
				Elapsed: time.Duration(rapid.IntRange(0, 1<<31).Draw(t, "ms")) * time.Millisecond,
			})
		}
		definitive := rapid.Bool().Draw(t, "definitive")
		got, last, err := ParseAttempts(AppendAttempts(nil, want, definitive))
		if err != nil || last != definitive || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v, %v, want %+v", got, last, err, want)
		}
	})
}

// FuzzParseAttempts: whatever a peer sends, it is refused or it is read the same way again, and it holds
// nothing that would end a header.
func FuzzParseAttempts(f *testing.F) {
	f.Add([]byte("1;exhausted,ashburn;acme-in;pbx-3;503;dpf;118;,ashburn;acme-in;pbx-4;408;d;4000;no_response"))
	f.Add([]byte("1;definitive"))
	f.Add([]byte("1;exhausted,a;b;c;503;dpf;7;;1,a;b;d;0;d;7;answered_elsewhere;1,a;b;e;408;d;7;x;65536"))
	f.Add([]byte("1;exhausted,a%0d;b;c;503;d;7;x;more"))
	f.Fuzz(func(t *testing.T, v []byte) {
		attempts, definitive, err := ParseAttempts(v)
		if err != nil {
			return
		}
		text := AppendAttempts(nil, attempts, definitive)
		if bytes.ContainsAny(text, "\r\n\x00") {
			t.Fatalf("%q", text)
		}
		again, last, err := ParseAttempts(text)
		if err != nil || last != definitive || !reflect.DeepEqual(again, attempts) {
			t.Fatalf("%q read again: %+v, %v", text, again, err)
		}
	})
}
