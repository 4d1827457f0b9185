package app

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tandem-sbc/tandem/cluster"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/sbc/guard"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// maxOffences bounds the offences that wait for the judge. More are dropped: who
	// commits as many is soon judged for others.
	maxOffences = 1024
	// doorsTick is how often bans that are over are dropped.
	doorsTick = 10 * time.Second
)

// doors joins what stands before the parser with who knows: the table says whom to
// trust, failed digests come to the judge, and bans go to the other nodes.
type doors struct {
	app   *App
	log   *slog.Logger
	guard *guard.Guard
	soft  *cluster.Soft
	// shut closes the connections from a network, but from addresses that are spared.
	shut func(p netip.Prefix, spared func(netip.Addr) bool) int
	// offload writes bans to the kernel; nil does not.
	offload *offload

	offences chan guard.Offence
	lost     atomic.Uint64             // offences that found no room
	untold   atomic.Uint64             // bans that found no room in the soft state
	made     map[string]*atomic.Uint64 // automatic bans of this node, by reason

	mu       sync.Mutex
	judge    *guard.Judge // under mu
	table    *trunkgroup.Table
	addrs    [][]netip.AddrPort // of members, as the guard knows them
	carriers [][]netip.AddrPort // the same of registrars

	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newDoors(a *App) *doors {
	cfg := &a.cfg.Doors
	d := &doors{
		app: a, log: a.log.With("component", "doors"), soft: a.soft, shut: func(netip.Prefix, func(netip.Addr) bool) int { return 0 },
		offences: make(chan guard.Offence, maxOffences), made: make(map[string]*atomic.Uint64),
		judge: guard.NewJudge(guard.Law{
			Weight: cfg.Ban.Weight, Within: cfg.Ban.Within, First: cfg.Ban.First, Longest: cfg.Ban.Longest, Sources: cfg.Sources,
		}),
	}
	for _, reason := range []string{guard.ReasonDigest, guard.ReasonMalformed, guard.ReasonScanner} {
		d.made[reason] = new(atomic.Uint64)
	}
	g := guard.Config{
		Listeners: guardListeners(a.cfg.Listeners), Allow: cfg.Allow,
		Stranger: rate(cfg.Strangers), Known: rate(cfg.Known), Trusted: rate(cfg.Trusted),
		Sources: cfg.Sources, Signatures: cfg.Scanners, Start: time.Now(), OnOffence: d.offended,
	}
	if g.Signatures == nil {
		g.Signatures = guard.DefaultSignatures()
	}
	_, _ = rand.Read(g.Key[:]) // never fails (crypto/rand)
	d.guard = guard.New(g)
	d.offload = newOffload(cfg.NFTables, d.inKernel, d.log)
	a.soft.OnChange(d.changed)
	return d
}

func rate(b config.Bucket) guard.Rate { return guard.Rate{PerSecond: b.Rate, Burst: b.Burst} }

func guardListeners(list []config.Listener) []guard.Listener {
	out := make([]guard.Listener, len(list))
	for i, l := range list {
		out[i] = guard.Listener{
			Stream: l.Transport != "udp", TLS: l.Transport == "tls" || l.Transport == "wss", ACL: trunkgroup.NewACL(l.Allow, l.Deny),
		}
	}
	return out
}

// serve says how connections are closed, before there are any.
func (d *doors) serve(shut func(netip.Prefix, func(netip.Addr) bool) int) { d.shut = shut }

// start begins to judge.
func (d *doors) start() {
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	d.done.Go(func() { d.run(ctx) })
	d.offload.start()
}

func (d *doors) stop(context.Context) error {
	if d.cancel != nil {
		d.cancel()
		d.done.Wait()
	}
	d.offload.stop()
	return nil
}

func (d *doors) run(ctx context.Context) {
	tick := time.NewTicker(doorsTick)
	defer tick.Stop()
	for {
		select {
		case o := <-d.offences:
			d.judged(time.Now(), o)
		case <-tick.C:
			d.guard.Sweep(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// use trusts the far ends of a table as they are resolved now. Whoever was banned as a
// stranger and is one of them is none any more.
func (d *doors) use(t *trunkgroup.Table, v *trunkgroup.View) {
	d.mu.Lock()
	same := d.table == t && slices.EqualFunc(d.addrs, v.Addrs, slices.Equal[[]netip.AddrPort]) &&
		slices.EqualFunc(d.carriers, v.Carriers, slices.Equal[[]netip.AddrPort])
	d.table, d.addrs, d.carriers = t, v.Addrs, v.Carriers
	d.mu.Unlock()
	if same {
		return
	}
	d.guard.SetTrusted(trunkgroup.NewGateways(t, v))
	for _, b := range d.guard.Bans(time.Now()) {
		switch {
		case b.Auto && b.Prefix.IsSingleIP() && d.guard.Trusted(b.Prefix.Addr()):
			d.lift(b.Prefix)
			d.log.Info("ban lifted: the source is a far end of a trunk group now", "prefix", b.Prefix.String())
		case d.spares(&b):
			d.offload.remove(b.Prefix) // a network with a far end in it now
		}
	}
}

// offended implements guard.Config.OnOffence.
func (d *doors) offended(o guard.Offence) {
	if d.app.cfg.Doors.Ban.Weight == 0 {
		return
	}
	select {
	case d.offences <- o:
	default:
		d.lost.Add(1)
	}
}

// nodes tells whether there are nodes of the cluster in a network, this one too.
func (d *doors) nodes(network netip.Prefix) bool {
	return network.Contains(d.app.cfg.Interconnect.Advertise.Addr().Unmap()) || d.peers(network)
}

// peers tells whether there are other nodes in a network.
func (d *doors) peers(network netip.Prefix) bool {
	return slices.ContainsFunc(d.app.node.Peers(), func(p interconnect.Peer) bool {
		at, err := netip.ParseAddrPort(p.Address)
		return err == nil && network.Contains(at.Addr().Unmap())
	})
}

// spares tells whether there is somebody in a ban's network for whom it does not hold.
func (d *doors) spares(b *guard.Ban) bool { return d.guard.Spares(b) || d.nodes(b.Prefix) }

// inKernel lists the bans that the kernel may enforce. It drops whatever comes from a
// network: what the other nodes say too, and what spared far ends in it say.
func (d *doors) inKernel(now time.Time) []guard.Ban {
	return slices.DeleteFunc(d.guard.Bans(now), func(b guard.Ban) bool { return d.spares(&b) })
}

// judged bans who has done too much.
func (d *doors) judged(now time.Time, o guard.Offence) {
	if a := o.Source.Unmap().WithZone(""); d.guard.Exempt(a, now) || d.peers(netip.PrefixFrom(a, a.BitLen())) {
		return
	}
	if _, already := d.guard.Banned(o.Source, now); already {
		return // what was on its way when it was banned
	}
	d.mu.Lock()
	b, guilty := d.judge.Offended(now, o)
	d.mu.Unlock()
	if !guilty {
		return
	}
	d.made[o.Reason].Add(1)
	b.Node = d.app.cfg.Name
	if err := d.ban(b); err != nil {
		d.log.Warn("a ban holds on this node only", "prefix", b.Prefix.String(), "error", err)
	}
}
