package main

import (
	"strings"
	"testing"
)

func run(t *testing.T, input string) string {
	t.Helper()
	var out strings.Builder
	s := &summary{out: &out, output: map[string][]string{}}
	s.read(strings.NewReader(input))
	s.close()
	return out.String()
}

func TestSummaryShowsOnlyWhatFailed(t *testing.T) {
	got := run(t, `{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"want 1\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p"}
`)
	want := "want 1\nFAIL  p\nfailed: p TestB\nfailed: p\n1 tests passed, 1 failed, 1 skipped\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestSummaryCountsAPackageThatDidNotBuild(t *testing.T) {
	got := run(t, `{"Action":"build-output","ImportPath":"p","Output":"syntax error\n"}
{"Action":"output","Package":"p","Output":"FAIL p [build failed]\n"}
{"Action":"fail","Package":"p"}
`)
	if !strings.HasSuffix(got, "0 tests passed, 1 failed, 0 skipped\n") || !strings.Contains(got, "syntax error") {
		t.Errorf("got %q", got)
	}
}
