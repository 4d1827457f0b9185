package main

import (
	"bytes"
	"strings"
	"testing"
)

// What makes no sense is refused before anything is asked of a node.
func TestNonsenseIsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"node drain --wait -5s":                                               "--wait is not below zero",
		"load --node 127.0.0.1:9 --to +12145550100 --calls -1":                "not below zero",
		"load --node 127.0.0.1:9 --to +12145550100 --duration -1s":            "not below zero",
		"load --node 127.0.0.1:9 --to +12145550100 --calls 1 --max-active -1": "not below zero",
	} {
		args += " --address unix:" + t.TempDir() + "/nobody.sock"
		if code, _, errs := tandem(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("tandem %s: exit code %d, %s", args, code, errs)
		}
	}
}

// endless never ends, as /dev/zero.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A document or a backup that never ends does not fill the memory of who reads it.
func TestInputIsBounded(t *testing.T) {
	var out, errs bytes.Buffer
	con := console{in: endless{}, out: &out, err: &errs, env: func(string) string { return "" }}
	if code := run(t.Context(), []string{"config", "check", "-"}, con); code != exitFailed || !strings.Contains(errs.String(), "which is no document") {
		t.Errorf("exit code %d, %s%s", code, out.String(), errs.String())
	}
}
