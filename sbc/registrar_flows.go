package sbc

import (
	"github.com/tandem-sbc/tandem/sbc/registrar"
	"github.com/tandem-sbc/tandem/sbc/transport"
)

// flows keeps account of which bindings are reached by which connection of this
// node. It is one goroutine's.
type flows map[transport.Flow]*carried

// carried are the bindings of one connection: of one far end, or of all the users
// behind a proxy, and then a refresh of one of them must not cost a look at all.
type carried struct {
	records map[string]*registrar.Record // by key
	sweep   int                          // at so many, those that have expired are dropped
}

// carriedSweep is the least number of bindings of a connection among which those
// that have expired are looked for.
const carriedSweep = 64

// add enters a binding; stands tells of another one whether it still is.
func (f flows) add(r *registrar.Record, stands func(*registrar.Record) bool) {
	c := f[transport.Flow(r.Flow)]
	if c == nil {
		c = &carried{records: make(map[string]*registrar.Record), sweep: carriedSweep}
		f[transport.Flow(r.Flow)] = c
	}
	c.records[r.Key()] = r
	if len(c.records) <= c.sweep {
		return
	}
	for key, old := range c.records {
		if !stands(old) {
			delete(c.records, key)
		}
	}
	c.sweep = max(carriedSweep, 2*len(c.records))
}

// drop forgets a binding.
func (f flows) drop(r *registrar.Record) {
	c := f[transport.Flow(r.Flow)]
	if c == nil {
		return
	}
	delete(c.records, r.Key())
	if len(c.records) == 0 {
		delete(f, transport.Flow(r.Flow))
	}
}

// take returns the bindings of a connection that has ended, and forgets them.
func (f flows) take(flow transport.Flow) map[string]*registrar.Record {
	c := f[flow]
	if c == nil {
		return nil
	}
	delete(f, flow)
	return c.records
}
