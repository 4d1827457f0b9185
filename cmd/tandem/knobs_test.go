package main

import (
	"strings"
	"testing"
)

func TestKnobs(t *testing.T) {
	address := (&node{}).serve(t, "")
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"knob list", exitOK, `SUBJECT      SETTING   AUTHOR  AGE    ENDS                  NODE   REASON
site:dallas  draining  ann     1m30s  2026-12-01T12:00:00Z  dal-1  flood
`},
		{"knob renew site:dallas", exitOK, `SUBJECT      SETTING   AUTHOR  AGE     ENDS                  NODE   REASON
site:dallas  draining  ann     1h0m0s  2026-11-30T12:00:00Z  dal-1  -
`},
		{"site drain dallas --reason flood", exitOK, `SUBJECT      SETTING   AUTHOR  AGE  ENDS                  NODE   REASON
site:dallas  draining  ann     0s   2026-11-30T12:00:00Z  dal-1  flood
`},
		{"site undrain dallas", exitOK, `SUBJECT      SETTING  AUTHOR  AGE  ENDS  NODE   REASON
site:dallas  active   ann     0s   -     dal-1  -
`},
		{"site drain dallas", exitUsage, "error: a drain of a site wants a --reason\nhint: for example --reason 'flood in the basement'\n"},
		{"site drain ashburn --reason x", exitFailed, "error: refused: site ashburn is not this node's site: ask one of its nodes, ash-1\n"},
		{"member set-weight carrier-a/gw 5 --reason x", exitOK, `SUBJECT              SETTING   AUTHOR  AGE  ENDS                  NODE   REASON
weight:carrier-a/gw  weight 5  ann     0s   2026-11-30T12:00:00Z  dal-1  x
`},
		{"member set-weight carrier-a/gw 0", exitUsage, "error: \"0\" is no weight\nhint: write a number from 1 up, or default; draining takes a member out\n"},
		{"member set-weight carrier-a 5", exitUsage, "error: \"carrier-a\" is not GROUP/MEMBER\nhint: tandem member list shows them\n"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", address)...)
		if code != x.code || out+errs != x.want {
			t.Errorf("tandem %s: exit code %d\n%s%s\nwant\n%s", x.args, code, out, errs, x.want)
		}
	}
}
