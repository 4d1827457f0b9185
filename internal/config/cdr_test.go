package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSinks(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "auth")
	if err := os.WriteFile(secret, []byte("Bearer s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	faults := &Faults{}
	c := &checker{Faults: faults, dir: dir}
	f := defaultCDR()
	f.Interim, f.Keep = "15m", "720h"
	f.Sinks = []fileSink{
		{Name: "table", Type: "file", Path: "out.csv", Format: "csv", Profile: "46labs", RotateEvery: "24h"},
		{Name: "billing", Type: "http", URL: "https://billing.example.net/cdrs", AuthFile: secret, Format: "json", From: "oldest", Kinds: []string{"call"}},
		{Name: "siem", Type: "syslog", Address: "siem.example.net:6514", Transport: "tls", Batch: 50},
	}
	out := c.cdr(&f, dir)
	if len(faults.List) > 0 {
		t.Fatal(faults)
	}
	a, b, d := out.Sinks[0], out.Sinks[1], out.Sinks[2]
	if out.Interim != 15*time.Minute || out.Keep != 720*time.Hour || out.Path != filepath.Join(dir, "cdr.jsonl") {
		t.Errorf("%+v", out)
	}
	if a.Path != filepath.Join(dir, "out.csv") || a.RotateSize != 100<<20 || a.RotateEvery != 24*time.Hour || a.Batch != 500 || a.Timeout != 10*time.Second || a.Oldest {
		t.Errorf("%+v", a)
	}
	if string(b.Authorization.Bytes()) != "Bearer s3cret" || !b.Oldest || b.Profile != "tandem" || b.Format != "json" {
		t.Errorf("%+v", b)
	}
	if d.Transport != "tls" || d.Batch != 50 || d.Format != "jsonl" {
		t.Errorf("%+v", d)
	}
}

func TestSinkFaults(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.WriteFile(open, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	file := fileSink{Name: "a", Type: "file", Path: "x.jsonl"}
	web := fileSink{Name: "a", Type: "http", URL: "http://192.0.2.1/"}
	log := fileSink{Name: "a", Type: "syslog", Address: "192.0.2.1:514"}
	change := func(s fileSink, do func(*fileSink)) []fileSink {
		do(&s)
		return []fileSink{s}
	}
	for want, sinks := range map[string][]fileSink{
		"cdr.sinks[0].name: missing":                     change(file, func(s *fileSink) { s.Name = "" }),
		"cdr.sinks[1].name":                              {file, {Name: "a", Type: "file", Path: "y.jsonl"}},
		"cdr.sinks[1].path":                              {file, {Name: "b", Type: "file", Path: "x.jsonl"}},
		"also at cdr.path":                               change(file, func(s *fileSink) { s.Path = "cdr.jsonl" }),
		"cdr.sinks[0].type: missing":                     {{Name: "a"}},
		`cdr.sinks[0].type: "kafka"`:                     {{Name: "a", Type: "kafka"}},
		"cdr.sinks[0].path: missing":                     change(file, func(s *fileSink) { s.Path = "" }),
		"cdr.sinks[0].profile":                           change(file, func(s *fileSink) { s.Profile = "x" }),
		"cdr.sinks[0].format":                            change(file, func(s *fileSink) { s.Format = "json" }),
		"cdr.sinks[0].kinds[0]":                          change(file, func(s *fileSink) { s.Kinds = []string{"x"} }),
		"cdr.sinks[0].from":                              change(file, func(s *fileSink) { s.From = "then" }),
		"cdr.sinks[0].batch":                             change(file, func(s *fileSink) { s.Batch = -1 }),
		"cdr.sinks[0].timeout":                           change(file, func(s *fileSink) { s.Timeout = "1ms" }),
		"cdr.sinks[0].rotate_size":                       change(file, func(s *fileSink) { s.RotateSize = "1B" }),
		"cdr.sinks[0].rotate_every":                      change(file, func(s *fileSink) { s.RotateEvery = "1s" }),
		"cdr.sinks[0].url: only for sinks of type http":  change(file, func(s *fileSink) { s.URL = "http://x" }),
		"cdr.sinks[0].url":                               change(web, func(s *fileSink) { s.URL = "ftp://x" }),
		"without a user":                                 change(web, func(s *fileSink) { s.URL = "http://u:p@x/" }),
		"cdr.sinks[0].auth_file":                         change(web, func(s *fileSink) { s.AuthFile = open }),
		"cdr.sinks[0].tls: only for connections":         change(web, func(s *fileSink) { s.TLS.CA = open }),
		"cdr.sinks[0].tls: one of cert and key":          change(log, func(s *fileSink) { s.Transport, s.TLS.Cert = "tls", open }),
		"cdr.sinks[0].transport":                         change(log, func(s *fileSink) { s.Transport = "sctp" }),
		"cdr.sinks[0].address":                           change(log, func(s *fileSink) { s.Address = "x" }),
		"cdr.sinks[0].path: only for sinks of type file": change(log, func(s *fileSink) { s.Path = "x" }),
	} {
		faults := &Faults{}
		f := defaultCDR()
		f.Sinks = sinks
		(&checker{Faults: faults, dir: dir}).cdr(&f, dir)
		if len(faults.List) != 1 || !strings.Contains(faults.Error(), want) {
			t.Errorf("%s: %v", want, faults)
		}
		if strings.Contains(faults.Error(), "u:p@") {
			t.Error("a password is in the fault")
		}
	}
	faults := &Faults{}
	f := defaultCDR()
	f.Interim, f.Keep = "1s", "-1h"
	(&checker{Faults: faults, dir: dir}).cdr(&f, dir)
	if len(faults.List) != 2 {
		t.Error(faults)
	}
}
