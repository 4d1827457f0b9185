package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/lcr"
)

// Answers of a server that names other hosts each time do not make the node look up ever more of them at once.
func TestNamesThatAreLookedUpAreBounded(t *testing.T) {
	h := newHosts(&Client{cfg: Config{Names: &fakeNames{}}})
	for i := range maxHosts {
		h.list[lcr.HopName{Name: fmt.Sprint("gw", i)}] = &host{wait: make(chan struct{})}
	}
	if w := h.begin(lcr.HopName{Name: "one.more"}); w != nil || len(h.list) != maxHosts {
		t.Errorf("%d names are looked up", len(h.list))
	}
	h.list[lcr.HopName{Name: "gw7"}] = &host{used: time.Now()}
	if !h.makeRoom() || len(h.list) != maxHosts-1 || h.list[lcr.HopName{Name: "gw7"}] != nil {
		t.Error("there is no room where one has ended")
	}
}
