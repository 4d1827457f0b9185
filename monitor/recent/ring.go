package recent

import (
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cdr"
)

// DefaultSize is how many calls a Ring keeps unless told otherwise.
const DefaultSize = 10_000

// maxText bounds what a caller can choose of one entry, in bytes. No number is
// longer; a call whose is takes no part.
const maxText = 256

// Call is what one call asked.
type Call struct {
	ID        string // Tandem's call id
	At        time.Time
	Site      string // where it entered
	Source    netip.AddrPort
	Local     netip.AddrPort // ours; invalid when not known
	Transport string         // udp, tcp, tls
	Username  string         // digest user that identified the caller; empty for a source
	Called    string         // user of the Request-URI, or the address of record that was called
}

// Ring keeps the last calls. It is safe for concurrent use.
type Ring struct {
	slots []atomic.Pointer[Call]
	next  atomic.Uint64
}

// New returns a ring of so many calls; 0 means DefaultSize.
func New(size int) *Ring {
	if size <= 0 {
		size = DefaultSize
	}
	return &Ring{slots: make([]atomic.Pointer[Call], size)}
}

// Add takes a finished call. It never blocks. A call that a peer site handed
// over is not asked about here: its origin is where it was routed.
func (r *Ring) Add(rec *cdr.Record) {
	if rec.Kind != cdr.KindCall || !rec.Source.IsValid() || len(rec.CalledRaw) > maxText || len(rec.AuthUser) > maxText {
		return
	}
	c := &Call{
		ID: rec.CallID, At: rec.Start, Site: rec.Site, Source: rec.Source, Local: rec.Local, Transport: rec.Transport,
		Username: rec.AuthUser, Called: rec.CalledRaw,
	}
	if strings.HasPrefix(rec.Called, "sip:") {
		c.Called = rec.Called
	}
	i := r.next.Add(1) - 1
	r.slots[i%uint64(len(r.slots))].Store(c)
}

// Calls returns the calls that are kept, the newest first.
func (r *Ring) Calls() []*Call {
	size := uint64(len(r.slots))
	end := r.next.Load()
	list := make([]*Call, 0, min(end, size))
	for i := end; i > 0 && end-i < size; i-- {
		if c := r.slots[(i-1)%size].Load(); c != nil {
			list = append(list, c)
		}
	}
	return list
}
