package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// DEC-25: the document in force is no canary, and nobody is told that it is tried; another one is.
func TestDEC25_NothingIsTriedOfWhatIsInForce(t *testing.T) {
	pbx := startPBX(t)
	first := document(pbx.Addr(0).String())
	b := newBox(t, "127.88.1.47", first)
	b.up()
	stage := "/v1/config/canary?" + url.Values{"site": {"dallas"}, "reason": {"try"}}.Encode()
	var done admin.Applied
	b.post(stage, first, &done)
	if !done.Unchanged || done.Revision != 1 {
		t.Errorf("the document in force: %+v", done)
	}
	if code := b.ask(http.MethodGet, "/v1/config/canary", nil, nil); code != http.StatusNotFound {
		t.Errorf("a canary is shown: %d", code)
	}
	done = admin.Applied{}
	b.post(stage, strings.Replace(first, "+1214555*", "+1469555*", 1), &done)
	var k admin.Canary
	b.get("/v1/config/canary", &k)
	if done.Unchanged || done.Revision != 2 || k.Revision != 2 || len(k.Nodes) != 1 || k.Nodes[0].Generation != 1 {
		t.Errorf("another document: %+v, %+v", done, k)
	}
}
