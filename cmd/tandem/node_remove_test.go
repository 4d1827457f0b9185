package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

func TestNodeRemove(t *testing.T) {
	n := &node{}
	address := n.serve(t, "")
	alive := (&node{err: fmt.Errorf("%w: dal-2 answers by gossip: stop it first", admin.ErrRefused)}).serve(t, "")
	for _, x := range []struct {
		args, address string
		code          int
		want          string
	}{
		{"node remove dal-2", address, exitUsage, "error: a removal wants a --reason\nhint: for example --reason 'machine sold'\n"},
		{"node remove dal-9 --reason sold", address, exitNotFound, "error: not found: no such node: dal-9\n"},
		{"node remove dal-2 --reason sold", alive, exitFailed, "error: refused: dal-2 answers by gossip: stop it first\n"},
		{"node remove dal-2 --reason sold --author ann", address, exitOK, "node dal-2 is removed from cluster example; voters: ash-1, dal-1, wit-1\n"},
	} {
		code, out, errs := tandem(t, append(strings.Fields(x.args), "--address", x.address)...)
		if code != x.code || out+errs != x.want {
			t.Errorf("tandem %s: exit code %d\n%s%s\nwant\n%s", x.args, code, out, errs, x.want)
		}
	}
	if n.removal != (admin.RemoveOrder{Node: "dal-2", Author: "ann", Reason: "sold"}) {
		t.Errorf("order %+v", n.removal)
	}
}
