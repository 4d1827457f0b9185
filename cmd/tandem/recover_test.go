package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func TestDEC14_RecoverAndRejoin(t *testing.T) {
	address := (&node{list: admin.NodeList{Cluster: "example"}}).serve(t, "")
	alive := (&node{list: admin.NodeList{Cluster: "example"}, err: fmt.Errorf("%w: there is a leader", admin.ErrRefused)}).serve(t, "")
	for _, x := range []struct {
		args, address string
		code          int
		want          string
	}{
		{"cluster recover", address, exitOK, `ash-1: no sign of life
dal-2 answers by gossip and interconnect
would be given up: ash-1; would follow: dal-2; document 1.7
to do it: tandem cluster recover example --reason WHY
`},
		{"cluster recover example", address, exitUsage, "error: a recovery wants a --reason\nhint: for example --reason 'ashburn and the witness burnt down'\n"},
		{"cluster recover exampel --reason x", address, exitFailed, "error: invalid: the confirmation is not the id of this cluster: it is \"example\"\n"},
		{"cluster recover example --reason x", address, exitOK, `ash-1: no sign of life
dal-2 answers by gossip and interconnect
cluster example goes on in epoch 1 with revision 2.8; given up: ash-1; following: dal-2
`},
		{"cluster recover", alive, exitFailed, "error: refused: there is a leader\n"},
		{"cluster rejoin example", address, exitOK, "node ash-1 is back in cluster example with revision 2.8\n"},
		{"cluster rejoin", address, exitUsage, "error: tandem cluster rejoin wants CLUSTER, and got 0 arguments\nhint: tandem cluster rejoin CLUSTER [flags]\n"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", x.address)...)
		if code != x.code || out+errs != x.want {
			t.Errorf("tandem %s: exit code %d\n%s%s\nwant\n%s", x.args, code, out, errs, x.want)
		}
	}
}
