package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestExampleDocumentIsGood(t *testing.T) {
	code, out, errs := tandem(t, "config", "check", "../../configs/cluster.example.yaml")
	if code != exitOK || !strings.Contains(out, "ok, cluster ") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestBadDocumentsAreFaultyByLine(t *testing.T) {
	files, err := filepath.Glob("../../configs/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, f := range files {
		code, out, errs := tandem(t, "config", "check", f)
		if code != exitFailed || out != "" || !strings.HasPrefix(errs, "error: "+f+":") {
			t.Errorf("%s: exit code %d\n%s%s", f, code, out, errs)
		}
	}
}
