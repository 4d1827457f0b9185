package main

import (
	"strings"
	"testing"
)

const (
	osv      = `{"osv":{"id":"GO-1","summary":"bad thing"}}`
	library  = `{"finding":{"osv":"GO-1","fixed_version":"v1.2.4","trace":[{"module":"example.net/x","version":"v1.2.3","function":"F"}]}}`
	imported = `{"finding":{"osv":"GO-1","trace":[{"module":"example.net/x","version":"v1.2.3"}]}}`
	stdlib   = `{"finding":{"osv":"GO-1","fixed_version":"v1.26.9","trace":[{"module":"stdlib","version":"v1.26.8","function":"F"}]}}`
)

func TestReport(t *testing.T) {
	for _, x := range []struct {
		in, want string
		failed   bool
	}{
		{osv + imported, "no known vulnerability is called\n", false},
		{osv + imported + library, "vulnerable  GO-1  example.net/x v1.2.3, mended by v1.2.4: bad thing\n", true},
		{osv + stdlib + stdlib, "toolchain   GO-1  stdlib v1.26.8, mended by v1.26.9: bad thing\n", false},
	} {
		var out strings.Builder
		failed, err := report(strings.NewReader(x.in), &out)
		if err != nil || failed != x.failed || out.String() != x.want {
			t.Errorf("got %v, %v, %q\nwant %v, %q", failed, err, out.String(), x.failed, x.want)
		}
	}
	if _, err := report(strings.NewReader("{"), &strings.Builder{}); err == nil {
		t.Error("no error for output that was cut off")
	}
}
