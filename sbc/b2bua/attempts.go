package b2bua

import (
	"slices"

	"github.com/tandem-sbc/tandem/sbc/hunt"
	"github.com/tandem-sbc/tandem/sbc/sip"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// appendAttempts appends the header line that tells the origin of a hand-off
// what this site has tried (DEC-06, DEC-24). It never leaves the interconnect.
func (c *Call) appendAttempts(dst []byte, definitive bool) []byte {
	var list []hunt.Attempt
	if c.seq != nil {
		list = slices.Clone(c.seq.Attempts())
	}
	for i := range list {
		if m := c.memberOf(&list[i]); m != nil {
			list[i].Route = c.placeOf(&list[i])
			list[i].Group, list[i].Member, list[i].Site = c.groupOf(&list[i], m), m.ID, c.s.cfg.Site
		}
	}
	list = fitting(list)
	dst = append(append(dst, sip.Attempts.String()...), ": "...)
	dst = hunt.AppendAttempts(dst, list, definitive)
	return append(dst, "\r\n"...)
}

// memberOf returns the member that an attempt of this site went to, nil for an
// attempt of the peer site, whose list is its own.
func (c *Call) memberOf(a *hunt.Attempt) *trunkgroup.Member {
	if a.Site != "" || a.Target < 0 || a.Target >= len(c.cands) {
		return nil
	}
	return c.cands[a.Target].Member
}

// maxTold bounds the attempts, or the tried members, that nodes tell each other
// in a header: the names of so many fit into a header block whatever they are.
const maxTold = 48

// fitting leaves the attempts of a very large group out that say least: those
// that were never dialled, then the oldest. The last one, which decides the
// final response, stays.
func fitting(list []hunt.Attempt) []hunt.Attempt {
	if len(list) <= maxTold {
		return list
	}
	last := len(list) - 1
	kept := make([]hunt.Attempt, 0, maxTold)
	for i := range list {
		if list[i].Dialed || i == last {
			kept = append(kept, list[i])
		}
	}
	return kept[max(0, len(kept)-maxTold):]
}

// peerResult reads what a peer's final response says about its attempts. A
// response that cannot be read counts as one without any.
func peerResult(m *sip.Message) hunt.HandoffResult {
	if m == nil {
		return hunt.HandoffResult{}
	}
	list, definitive, err := hunt.ParseAttempts(m.Header(sip.Attempts))
	if err != nil {
		return hunt.HandoffResult{}
	}
	return hunt.HandoffResult{Attempts: list, Definitive: definitive}
}
