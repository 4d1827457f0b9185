package tandem

import "testing"

func TestParseMetricsReadsTheTextFormat(t *testing.T) {
	m, err := ParseMetrics(`# HELP a_total Something.
# TYPE a_total counter
a_total{site="dallas",member="acme/1"} 3
a_total{site="ashburn",member="say \"hi\", {x}"} 4.5e1
plain 7 1700000000
go_goroutines 12
bucket{le="+Inf"} +Inf
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"a_total", nil, 48},
		{"a_total", []string{"site=dallas"}, 3},
		{"a_total", []string{"site=dallas", "member=acme/2"}, 0},
		{"a_total", []string{`member=say "hi", {x}`}, 45},
		{"plain", nil, 7},
		{"absent", nil, 0},
	} {
		if got := m.Sum(tc.name, tc.labels...); got != tc.want {
			t.Errorf("Sum(%s, %v) = %v, want %v", tc.name, tc.labels, got, tc.want)
		}
	}
}

func TestParseMetricsRefusesDamage(t *testing.T) {
	for _, text := range []string{"name", "name{", "name{a=b} 1", `name{a="b"`, "name x"} {
		if m, err := ParseMetrics(text); err == nil {
			t.Errorf("%q was read as %v", text, m)
		}
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add("a{b=\"c\"} 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMetrics(text)
		if err != nil && m != nil {
			t.Fatal("an error and samples")
		}
	})
}
