package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// shut is the bans of a node with fixed answers.
type shut struct {
	order   admin.BanOrder
	removal admin.BanRemoval
}

func (s *shut) Bans(context.Context) (admin.BanList, error) {
	return admin.BanList{Node: "dal-1", Note: "the kernel refused 2 changes", Bans: []admin.Ban{
		{Prefix: "198.51.100.7/32", Auto: true, Reason: "digest: 10 in 1m0s", By: "auto", Node: "ash-1", Since: noon, Until: noon.Add(time.Hour), Before: 2},
		{Prefix: "2001:db8::/48", Reason: "guesses numbers", By: "noc", Node: "dal-1", Since: noon, Until: noon.Add(2 * time.Hour)},
	}}, nil
}

func (s *shut) AddBan(_ context.Context, o admin.BanOrder) (admin.Ban, error) {
	s.order = o
	if o.Prefix == "10.0.0.0/8" && !o.Force {
		return admin.Ban{}, fmt.Errorf("%w: 10.0.0.0/8 is wider than /24; say it with --force if so many shall be shut out", admin.ErrRefused)
	}
	return admin.Ban{Prefix: o.Prefix, Reason: o.Reason, By: o.Author, Node: "dal-1", Since: noon, Until: noon.Add(time.Duration(o.Seconds) * time.Second)}, nil
}

func (s *shut) RemoveBan(_ context.Context, o admin.BanRemoval) (admin.Ban, error) {
	s.removal = o
	return admin.Ban{}, fmt.Errorf("%w: there is no ban of %s; the list shows those that there are", admin.ErrNotFound, o.Prefix)
}

func TestBan(t *testing.T) {
	backend := &shut{}
	address := serveBackend(t, "", admin.Backend{Bans: backend})
	const head = "PREFIX           REASON              BY    NODE   SINCE                 UNTIL                 BEFORE\n"
	for _, c := range []struct {
		args      string
		code      int
		out, errs string
	}{
		{"ban list", exitOK, head +
			"198.51.100.7/32  digest: 10 in 1m0s  auto  ash-1  2026-11-30T12:00:00Z  2026-11-30T13:00:00Z  2\n" +
			"2001:db8::/48    guesses numbers     noc   dal-1  2026-11-30T12:00:00Z  2026-11-30T14:00:00Z  0\n", "note: the kernel refused 2 changes\n"},
		{"ban add 198.51.100.7 --for 90m --author noc --reason scans", exitOK, "PREFIX        REASON  BY   NODE   SINCE                 UNTIL                 BEFORE\n" +
			"198.51.100.7  scans   noc  dal-1  2026-11-30T12:00:00Z  2026-11-30T13:30:00Z  0\n", ""},
		{"ban add 10.0.0.0/8 --reason scans", exitFailed, "", "wider than /24"},
		{"ban add 10.0.0.0/8", exitUsage, "", "--reason"},
		{"ban add 10.0.0.0/8 --reason x --for 25h", exitUsage, "", "24h"},
		{"ban remove 198.51.100.9 --author noc", exitNotFound, "", "there is no ban of 198.51.100.9"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(c.args), "--address", address)...)
		if code != c.code || out != c.out || !strings.Contains(errs, c.errs) {
			t.Errorf("tandem %s: exit code %d\n%s%s", c.args, code, out, errs)
		}
	}
	if code, _, errs := tandem(t, "ban", "add", "10.0.0.0/8", "--reason", "x", "--force", "--address", address); code != exitOK || !backend.order.Force {
		t.Errorf("--force: exit code %d, %+v\n%s", code, backend.order, errs)
	}
	if backend.removal.Author != "noc" {
		t.Errorf("removed by %q", backend.removal.Author)
	}
}
