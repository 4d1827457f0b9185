//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTableHasMediansRatiosAndAddedDelay(t *testing.T) {
	r, err := openResults(filepath.Join(t.TempDir(), "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for run, us := range []float64{300, 100, 200} {
		r.add(result{Run: run, SUT: "direct", Test: "cpu@200", Values: map[string]float64{"pdd_p50_us": 50}})
		r.add(result{Run: run, SUT: "tandem", Test: "cpu@200", Values: map[string]float64{"cpu_us": us, "pdd_p50_us": 150}})
		r.add(result{Run: run, SUT: "kamailio", Test: "cpu@200", Values: map[string]float64{"cpu_us": 2 * us, "pdd_p50_us": 250}})
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	got := r.table([]string{"direct", "tandem", "kamailio", "absent"})
	for _, want := range []string{
		"| tandem | 200 | - | - | - | - | - | - | 100 | - | - | - | - |",
		"| kamailio | 400 | - | - | - | - | - | - | 200 | - | - | - | - |",
		"| tandem / kamailio | 0.50 |  |  |  |  |  |  | 0.50 |  |  |  |  |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "direct") || strings.Contains(got, "absent") {
		t.Errorf("rows too many:\n%s", got)
	}
}

func TestGoodRate(t *testing.T) {
	for _, test := range []struct {
		name string
		a    answer
		want bool
	}{
		{"all well", answer{Started: 2000, Achieved: 200}, true},
		{"one in a thousand failed", answer{Started: 1000, Failed: 1, Achieved: 200}, false},
		{"repeats", answer{Started: 1000, Repeats: 10, Achieved: 200}, false},
		{"the load program was late", answer{Started: 1000, Achieved: 190}, false},
		{"calls were left out", answer{Started: 1000, Skipped: 5, Failed: 5, Achieved: 200}, false},
	} {
		p := phase{answer: test.a}
		if p.good(200) != test.want {
			t.Errorf("%s: %v", test.name, !test.want)
		}
	}
}

func TestOptions(t *testing.T) {
	o, err := parse([]string{"-short", "-sut", "tandem"})
	if err != nil || o.runs != 1 || len(o.suts) != 1 || o.size.load > 5*time.Second {
		t.Errorf("%+v %v", o, err)
	}
	if _, err := parse([]string{"-test", "colour"}); err == nil {
		t.Error("an unknown test was taken")
	}
	if got := sippTime("00:00:01:005000"); got != "1005 ms" {
		t.Error(got)
	}
}

func TestGeneratorObeysOrders(t *testing.T) {
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(callerAddr))
	if err != nil {
		t.Skip("the ports of the benchmark are in use")
	}
	_ = c.Close()
	var in, out bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, o := range []order{
		{Do: "load", Direct: true, Rate: 200, Calls: 20},
		{Do: "hold", Direct: true, Rate: 200, Calls: 10},
		{Do: "release"},
		{Do: "dance"},
	} {
		if err := enc.Encode(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := generate(&in, &out); err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for dec := json.NewDecoder(&out); dec.More(); {
		var a answer
		if err := dec.Decode(&a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != 5 || answers[1].Completed != 20 || answers[2].Completed != 10 || answers[3].Completed != 10 || answers[4].Error == "" {
		t.Errorf("%+v", answers)
	}
}
