package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// operator is a backend of all that changes the cluster. It keeps the last order in words.
type operator struct {
	order string
	err   error
}

func (o *operator) note(format string, args ...any) { o.order = fmt.Sprintf(format, args...) }

func (o *operator) Plan(_ context.Context, c Change) (Plan, error) {
	o.note("plan %s expect %v dry %v", c.Text, c.Expect != nil && *c.Expect == 7, c.DryRun)
	return Plan{Revision: 7, Diff: trunkgroup.Compare(nil, nil, 1)}, o.err
}

func (o *operator) History(context.Context) (History, error) { return History{Cluster: "test"}, o.err }

func (o *operator) Revision(_ context.Context, n uint64) (Document, error) {
	return Document{Revision: n}, o.err
}

func (o *operator) Compare(_ context.Context, from, to uint64) (Plan, error) {
	o.note("compare %d %d", from, to)
	return Plan{}, o.err
}

func (o *operator) Rollback(_ context.Context, r Rollback) (Applied, error) {
	o.note("rollback %d %s %s", r.Revision, r.Author, r.Reason)
	return Applied{}, o.err
}

func (o *operator) Canary(context.Context) (Canary, error) { return Canary{Site: "dallas"}, o.err }

func (o *operator) Stage(_ context.Context, site string, c Change) (Applied, error) {
	o.note("stage %s %s %s", site, c.Text, c.Key)
	return Applied{}, o.err
}

func (o *operator) Decide(_ context.Context, v Verdict) (Applied, error) {
	o.note("decide %v %d", v.Promote, v.Revision)
	return Applied{}, o.err
}

func (o *operator) Backup(context.Context) ([]byte, error) { return []byte("\x00backup\xff"), o.err }

func (o *operator) Restore(_ context.Context, r Restoration) (Applied, error) {
	o.note("restore %q %d %v", r.File, r.Revision, r.DryRun)
	return Applied{}, o.err
}

func (o *operator) Recover(_ context.Context, r RecoverOrder) (Recovery, error) {
	o.note("recover %s %v", r.Confirm, r.DryRun)
	return Recovery{}, o.err
}

func (o *operator) Rejoin(_ context.Context, r RejoinOrder) (Rejoined, error) {
	o.note("rejoin %s", r.Confirm)
	return Rejoined{}, o.err
}

func (o *operator) Remove(_ context.Context, r RemoveOrder) (Gone, error) {
	o.note("remove %s %v", r.Node, r.Few)
	return Gone{}, o.err
}
func (o *operator) Knobs(context.Context) (KnobList, error) { return KnobList{}, o.err }

func (o *operator) SetWeight(_ context.Context, group, member string, w WeightOrder) (KnobLine, error) {
	o.note("weight %s/%s %d", group, member, w.Weight)
	return KnobLine{}, o.err
}

func (o *operator) SetProbing(_ context.Context, site string, p ProbingOrder) (KnobLine, error) {
	return KnobLine{Subject: "probing:" + site, Setting: "paused", Author: p.Author}, nil
}

func (o *operator) SetSite(_ context.Context, site string, d SiteOrder) (KnobLine, error) {
	o.note("drain %s %v", site, d.Drain)
	return KnobLine{}, o.err
}

func (o *operator) Renew(_ context.Context, r RenewOrder) (KnobLine, error) {
	o.note("renew %s", r.Subject)
	return KnobLine{}, o.err
}

func (o *operator) backend() Backend {
	return Backend{ConfigLog: o, Canaries: o, Vault: o, Rescue: o, Knobs: o}
}

func TestOrdersReachTheBackend(t *testing.T) {
	o := &operator{}
	c := serve(t, func(s *Settings) { s.Backend = o.backend() })
	for _, x := range []struct{ method, path, body, kind, want string }{
		{"POST", "/v1/config/plan?expect_revision=7", "a: b", "application/yaml", "plan a: b expect true dry true"},
		{"GET", "/v1/config/diff?from=3", "", "", "compare 3 0"},
		{"POST", "/v1/config/rollback", `{"revision":3,"author":"ann","reason":"why"}`, "application/json", "rollback 3 ann why"},
		{"POST", "/v1/config/canary?site=ashburn&author=ann", "a: b", "application/yaml", "stage ashburn a: b "},
		{"POST", "/v1/config/canary/verdict", `{"promote":true,"revision":8}`, "application/json", "decide true 8"},
		{"POST", "/v1/config/restore?revision=4&dry_run=true", "\x00x\xff", "application/octet-stream", `restore "\x00x\xff" 4 true`},
		{"POST", "/v1/cluster/recover", `{"confirm":"test","dry_run":true}`, "application/json", "recover test true"},
		{"POST", "/v1/cluster/rejoin", `{"confirm":"test"}`, "application/json", "rejoin test"},
		{"POST", "/v1/cluster/remove", `{"node":"dal-2"}`, "application/json", "remove dal-2 false"},
		{"POST", "/v1/members/carrier-a/gw/weight", `{"weight":5}`, "application/json", "weight carrier-a/gw 5"},
		{"POST", "/v1/sites/dallas/drain", `{"drain":true}`, "application/json", "drain dallas true"},
		{"POST", "/v1/knobs/renew", `{"subject":"site:dallas"}`, "application/json", "renew site:dallas"},
	} {
		o.order = ""
		if status, _, body := c.do(x.method, x.path, x.body, "Content-Type", x.kind); status != http.StatusOK || o.order != x.want {
			t.Errorf("%s %s: %d, %q, want %q\n%s", x.method, x.path, status, o.order, x.want, body)
		}
	}
	if status, header, body := c.do("GET", "/v1/config/backup", ""); status != 200 || body != "\x00backup\xff" || header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("backup: %d, %q, %v", status, body, header)
	}
	for _, path := range []string{"/v1/config/history", "/v1/config/revisions/3", "/v1/config/canary", "/v1/knobs"} {
		if status, _, body := c.do("GET", path, ""); status != http.StatusOK {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
}

// What makes no sense is refused before the backend hears of it.
func TestBadOrders(t *testing.T) {
	o := &operator{}
	c := serve(t, func(s *Settings) { s.Backend = o.backend(); s.MaxDocument = 1000 })
	for _, x := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/v1/config/revisions/0", "", 422},
		{"GET", "/v1/config/revisions/x", "", 422},
		{"POST", "/v1/config/rollback", `{"revision":0}`, 422},
		{"POST", "/v1/config/rollback", `{"revision":3,"force":true}`, 422},
		{"POST", "/v1/config/plan?expect_revision=x", "a", 422},
		{"POST", "/v1/config/plan", strings.Repeat("x", 2000), 413},
		{"POST", "/v1/config/canary", "a", 422},
		{"POST", "/v1/config/restore", strings.Repeat("x", 9000), 413},
		{"POST", "/v1/members/a/b/weight", `{"weight":-1}`, 422},
		{"POST", "/v1/members/a/b/weight", `{"weight":2000000}`, 422},
		{"POST", "/v1/sites/dallas/drain", `{}`, 422},
	} {
		if status, _, body := c.do(x.method, x.path, x.body, "Content-Type", "application/json"); status != x.want || o.order != "" {
			t.Errorf("%s %s: %d, want %d, order %q\n%s", x.method, x.path, status, x.want, o.order, body)
		}
	}
	for _, x := range []struct {
		err  error
		want int
	}{{ErrNotFound, 404}, {ErrInvalid, 422}, {ErrRefused, 409}, {ErrUnavailable, 503}, {&ConflictError{Expected: 3, Current: 7}, 409}, {errors.New("secret"), 500}} {
		o.err = fmt.Errorf("while at it: %w", x.err)
		status, _, body := c.do("POST", "/v1/config/rollback", `{"revision":3}`, "Content-Type", "application/json")
		if status != x.want || strings.Contains(body, "secret") {
			t.Errorf("%v: %d, want %d: %s", x.err, status, x.want, body)
		}
	}
}

// A witness says that it has no knobs, and a node asked for what it lacks is no stranger.
func TestWitnessHasNoKnobs(t *testing.T) {
	c := serve(t, func(*Settings) {})
	for _, path := range []string{"/v1/knobs", "/v1/sites/dallas/drain"} {
		if status, _, body := c.do("POST", path, "{}"); status != 404 || !strings.Contains(body, "witness") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}
