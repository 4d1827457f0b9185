package app

import (
	"slices"
	"testing"

	"github.com/tandem-sbc/tandem/monitor/admin"
)

// DEC-15: a PBX that is back before its node has heard from the others what it
// had there, and refreshed often, is reached by its new connection everywhere.
func TestDEC15_RegistrationDuringARestart(t *testing.T) {
	boxes := newClusterOf(t, "127.88.46", registering(1), 3)
	for _, b := range boxes {
		b.start()
	}
	defer boxes[1].stop()
	defer boxes[2].stop()
	ready(boxes...)
	old := newPhone(t, boxes[0])
	for range 5 {
		if m := old.register("old"); m.Status() != 200 {
			t.Fatalf("%s", m.Raw())
		}
	}
	knows := func(b *box, fits func(r *admin.Registration) bool) {
		t.Helper()
		b.wait("the binding", func() bool {
			var list admin.RegistrationList
			return b.ask("GET", "/v1/registrations", nil, &list) == 200 && len(list.Registrations) == 1 && fits(&list.Registrations[0])
		})
	}
	here := old.conn.LocalAddr().String()
	knows(boxes[2], func(r *admin.Registration) bool { return r.Reachable && r.Source == here })
	boxes[0].stop()
	if err := old.conn.Close(); err != nil {
		t.Fatal(err)
	}
	boxes[0].start()
	defer boxes[0].stop()
	again := newPhone(t, boxes[0])
	again.contact = old.contact
	if m := again.register("again"); m.Status() != 200 {
		t.Fatalf("%s", m.Raw())
	}
	ready(boxes[0])
	there := again.conn.LocalAddr().String()
	// The others hear of it when n1 knows that what they have is older.
	for _, b := range slices.Backward(boxes) {
		knows(b, func(r *admin.Registration) bool { return r.Reachable && r.Node == "n1" && r.Source == there })
	}
}
