package app

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/sbc/charging/clerk"
	"github.com/tandem-sbc/tandem/sbc/charging/diameter"
	"github.com/tandem-sbc/tandem/sbc/charging/peers"
	"github.com/tandem-sbc/tandem/sbc/charging/spool"
)

// Names of the alarms about charging.
const (
	alarmDiameter = "diameter_peers" // no server is well, or one has been away
	alarmCharging = "charging_spool" // records cannot be kept safely, or were lost
)

const (
	// chargingTick is how often alarms are looked at.
	chargingTick = time.Second
	// peerPatience is for how long a server may be away before there is an alarm.
	peerPatience = 10 * time.Second
	// chargingPatience is how long a node that stops still tells servers of its calls.
	chargingPatience = 2 * time.Second
)

// charger has the calls of this node charged.
type charger struct {
	app    *App
	log    *slog.Logger
	peers  *peers.Set
	spool  *spool.Spool
	clerk  *clerk.Clerk
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newCharger(a *App) (*charger, error) {
	c := &charger{app: a, log: a.log.With("component", "charging")}
	d := &a.cfg.Diameter
	host := cmp.Or(d.Host, a.cfg.Name)
	kept, err := spool.Open(filepath.Join(a.cfg.DataDir, "charging"), d.Queue)
	if err != nil {
		return nil, err
	}
	c.spool = kept
	boot := uint32(a.node.Boot())
	set := peers.Config{
		Identity: diameter.Identity{Host: host, Realm: cmp.Or(d.Realm, a.cfg.Site), State: boot}, Watchdog: d.Watchdog, Timeout: d.Timeout,
		Asked: func(session string, abort bool) bool { return c.clerk.Asked(session, abort) }, Logger: c.log,
	}
	for i := range d.Peers {
		peer, err := diameterPeer(&d.Peers[i], a.keys)
		if err != nil {
			return nil, err
		}
		set.Peers = append(set.Peers, peer)
	}
	c.peers = peers.New(set)
	c.clerk = clerk.New(clerk.Config{
		Host: host, Boot: boot, Timeout: d.Timeout, Peers: c.peers, Spool: c.spool, IDs: c.peers.ID, Logger: c.log,
	})
	return c, nil
}

func diameterPeer(p *config.DiameterPeer, keys *keeper) (peers.Peer, error) {
	peer := peers.Peer{Name: p.Name, Address: p.Address, Host: p.Host, Realm: p.Realm}
	if !p.Secure {
		return peer, nil
	}
	live, err := newLiveTLS("diameter peer "+p.Name, p.TLS, clientTLS)
	if err != nil {
		return peer, err
	}
	keys.watchTLS(live)
	peer.TLS = func() *tls.Config { return live.client("") }
	return peer, nil
}

// start begins before the first call.
func (c *charger) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.peers.Start()
	c.clerk.Start()
	c.done.Go(func() { c.watch(ctx) })
}

// stop ends after the last call.
func (c *charger) stop(context.Context) error {
	if c.cancel != nil {
		c.cancel()
		c.done.Wait()
	}
	c.clerk.Stop(chargingPatience)
	c.peers.Stop()
	return c.spool.Close()
}

func (c *charger) watch(ctx context.Context) {
	tick := time.NewTicker(chargingTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			c.app.alarmIf(alarmDiameter, peerTrouble(now, c.peers.Status()))
			c.app.alarmIf(alarmCharging, chargingTrouble(c.clerk.Status()))
		}
	}
}

// peerTrouble says which servers are away; empty = none.
func peerTrouble(now time.Time, list []peers.Status) string {
	var away []string
	for _, p := range list {
		if !p.Up && now.Sub(p.Since) >= peerPatience {
			away = append(away, fmt.Sprintf("%s at %s (%s)", p.Name, p.Address, cmp.Or(p.Fault, p.State)))
		}
	}
	if len(away) == 0 {
		return ""
	}
	what := "the others are asked in their place"
	if len(away) == len(list) {
		what = "calls that are charged online go by on_failure of their group; what is to be told is kept on disk"
	}
	return "away: " + strings.Join(away, ", ") + "; " + what + "; see that the server runs, that diameter.peers names its address, and that it knows our origin_host"
}

// chargingTrouble says why records of charging are not safe.
func chargingTrouble(s clerk.Status) string {
	switch {
	case s.Disk != nil:
		return fmt.Sprintf("the disk takes no records of charging: %v; they are in memory until it does, and lost if the node dies; make room in data_dir", s.Disk)
	case s.Dropped > 0:
		return "records of charging were lost since more than diameter.queue were kept; see that a charging server answers, and bill these calls by their call records"
	}
	return ""
}
