package monitor

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// forwardPause is the least time between two reports about one target to the same effect to another node.
const forwardPause = 500 * time.Millisecond

// observation is evidence on its way from a call to the goroutine that carries it on.
type observation struct {
	member *trunkgroup.Member
	verdict.Evidence
}

// flags remembers which members have unanswered failures, so that the good news of ordinary calls costs one load.
type flags struct {
	table  *trunkgroup.Table
	failed []atomic.Bool // by Member.Index
}

func newFlags(t *trunkgroup.Table) *flags {
	return &flags{table: t, failed: make([]atomic.Bool, len(t.Members()))}
}

// of returns the flag of a member, which may stem from an older table.
func (f *flags) of(member *trunkgroup.Member) *atomic.Bool {
	if f == nil {
		return nil
	}
	if list := f.table.Members(); member.Index >= len(list) || list[member.Index] != member {
		if member = f.table.Member(member.Key); member == nil {
			return nil
		}
	}
	return &f.failed[member.Index]
}

// Evidence takes what a call saw of a member at an address (DEC-11): ok for any response, else the cause of a transport error or of an attempt
// without any response. It never blocks and costs next to nothing while calls go well.
func (m *Monitor) Evidence(member *trunkgroup.Member, addr netip.AddrPort, ok bool, cause string) {
	if !member.Group.Monitoring.Enabled {
		return
	}
	failed := m.flags.Load().of(member)
	if failed == nil || ok && !failed.Load() {
		return
	}
	failed.Store(!ok)
	m.observe(observation{member, verdict.Evidence{Key: verdict.KeyOf(member, addr), OK: ok, Cause: cause}})
}

// RetryAfter takes the Retry-After of a 503 that a call got from a member (DEC-11). It never blocks.
func (m *Monitor) RetryAfter(member *trunkgroup.Member, addr netip.AddrPort, d time.Duration) {
	if member.Group.Monitoring.Enabled && d > 0 {
		m.observe(observation{member, verdict.Evidence{Key: verdict.KeyOf(member, addr), RetryAfter: d}})
	}
}

func (m *Monitor) observe(o observation) {
	select {
	case m.evidence <- o:
	default:
		m.lost.Add(1)
	}
}

// carry brings evidence to the node that probes the member.
func (m *Monitor) carry() {
	sent := make(map[verdict.Evidence]time.Time)
	for {
		select {
		case <-m.ctx.Done():
			return
		case o := <-m.evidence:
			m.mu.Lock()
			owner := verdict.Owner(m.nodes, o.member.Site, o.member.Key)
			m.mu.Unlock()
			if owner == m.cfg.Node {
				m.take(o.Evidence)
				continue
			}
			now := time.Now()
			if len(sent) > 10_000 {
				clear(sent)
			}
			if owner == "" || now.Sub(sent[o.Evidence]) < forwardPause {
				continue
			}
			sent[o.Evidence] = now
			m.cfg.Forward(owner, o.Append(nil))
		}
	}
}

// take gives evidence to the prober.
func (m *Monitor) take(e verdict.Evidence) {
	if e.RetryAfter > 0 {
		m.prober.RetryAfter(e.Key, e.RetryAfter)
		return
	}
	m.prober.Evidence(e.Key, e.OK, e.Cause)
}

// Frame takes evidence that another node's Monitor forwarded.
func (m *Monitor) Frame(_ string, payload []byte) {
	e, err := verdict.DecodeEvidence(payload)
	if err != nil {
		m.cfg.Logger.Debug("evidence of another node cannot be read", "error", err)
		return
	}
	m.take(e)
}
