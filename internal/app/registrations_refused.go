package app

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/sbc/auth"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	maxRefusals  = 1 << 16 // addresses of record whose last refusal is remembered
	refusalsKept = 24 * time.Hour
	// refusalsPerAOR leaves room for a guesser beside the PBX that he annoys.
	refusalsPerAOR = 4
)

// refusals remembers for each address of record which REGISTERs were refused
// here last, by source and reason. The shards write to it at once: it has no lock, and of two refusals
// at one moment one may not be counted. Only addresses of record of the document
// have a place, so strangers cannot fill it.
type refusals struct {
	byAOR sync.Map // of AOR to *atomic.Pointer[[]refusal]
	n     atomic.Int64
}

// refusal tells of REGISTERs that were refused for one reason.
type refusal struct {
	result, reason string
	source         netip.AddrPort
	since, last    time.Time
	times          int
}

// note takes a REGISTER that was refused.
func (r *refusals) note(now time.Time, e *b2bua.Event) {
	aor := e.Member.Registration.AOR
	v, ok := r.byAOR.Load(aor)
	if !ok {
		if r.n.Load() >= maxRefusals {
			return
		}
		if v, ok = r.byAOR.LoadOrStore(aor, new(atomic.Pointer[[]refusal])); !ok {
			r.n.Add(1)
		}
	}
	at := v.(*atomic.Pointer[[]refusal])
	first := refusal{result: e.Result, reason: e.Reason, source: e.Source, since: now, last: now, times: 1}
	next := make([]refusal, 1, refusalsPerAOR)
	was := at.Load()
	if was != nil {
		for _, other := range *was {
			switch {
			case other.result == first.result && other.reason == first.reason && other.source.Addr() == first.source.Addr():
				first.since, first.times = other.since, other.times+1
			case len(next) < refusalsPerAOR:
				next = append(next, other)
			}
		}
	}
	next[0] = first
	at.CompareAndSwap(was, &next)
}

// list returns what is remembered of an AOR, or of all, the latest first, and
// forgets what is old or of nobody any more.
func (r *refusals) list(now time.Time, table *trunkgroup.Table, aor string, limit int) (list []admin.Refused) {
	r.byAOR.Range(func(key, value any) bool {
		of := key.(string)
		m, at := table.MatchAOR(of), value.(*atomic.Pointer[[]refusal]).Load()
		switch {
		case at == nil: // its first one is just being written
		case m == nil || now.Sub((*at)[0].last) > refusalsKept:
			if _, gone := r.byAOR.LoadAndDelete(key); gone {
				r.n.Add(-1)
			}
		case aor == "" || aor == of:
			for i := range *at {
				if f := &(*at)[i]; now.Sub(f.last) <= refusalsKept {
					list = append(list, admin.Refused{
						AOR: of, Member: m.Key, Source: f.source.String(), Result: f.result, Reason: f.reason, Why: whyRefused(f),
						Since: f.since, Last: f.last, Times: f.times,
					})
				}
			}
		}
		return true
	})
	slices.SortFunc(list, func(a, b admin.Refused) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.AOR, b.AOR)) })
	return list[:min(limit, len(list))]
}

// whyRefused says it in words, with what to change.
func whyRefused(r *refusal) string {
	words := map[string]string{
		"challenged/" + auth.ReasonDigest:      "wrong password, or a hash that was made of another password, user or realm",
		"challenged/" + auth.ReasonUnknownUser: "no credential of the realm has the username that it sends",
		"challenged/" + auth.ReasonAlgorithm:   "its user has no hash for the algorithm that it answers with, or `algorithms` leaves it out",
		"challenged/" + auth.ReasonURI:         "its digest is made for another Request-URI: a proxy on the way changes it",
		"challenged/" + auth.ReasonQOP:         "it answers without qop=auth, which is required",
		"challenged/" + auth.ReasonUnsupported: "it answers with an algorithm, or a form of the username, that is never offered",
		"challenged/" + auth.ReasonMalformed:   "its Authorization header cannot be read",
		"challenged/acl":                       "right password, from an address that the `acl` of its user's group keeps out",
		"user/":                                "right password of a user who is not in `users` of the registration",
		"source/":                              "right password, from an address that `bound_ip`, or the `acl` of the group, keeps out",
		"contacts/":                            "it has `contacts` bindings already, all of them reachable",
		"brief/":                               "it asks for less than `min_expires`",
		"order/":                               "its CSeq is not above that of its last REGISTER: two devices with one Call-ID, or an old copy",
		"extension/":                           "it requires an extension that is not supported",
		"bulk/":                                "a bulk contact (bnc) that RFC 6140 does not allow",
		"contact/":                             "a contact that makes no sense",
		"star/":                                "a contact of * that makes no sense",
		"path/":                                "a Path that makes no sense",
		"flow_gone/":                           "its connection ended before the answer",
		"churn/":                               "it registers under new names all the time",
		"full/":                                "no room in the soft state: raise soft_state.entries or soft_state.size",
		"silent/":                              "the registrar did not answer in time",
	}
	return cmp.Or(words[r.result+"/"+r.reason], r.result+" "+r.reason)
}
