package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tandem-sbc/tandem/cluster/soft"
	"github.com/tandem-sbc/tandem/monitor/verdict"
	"github.com/tandem-sbc/tandem/sbc/b2bua"
	"github.com/tandem-sbc/tandem/sbc/uac"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

const (
	// alarmAccounts: a registration at a carrier has lapsed, or is refused.
	alarmAccounts = "carrier_registration"
	// renewEvery bounds how often a registration is put in again because another node
	// had one too.
	renewEvery = time.Minute
	// renewAfter lets the other node see that the account is not its own.
	renewAfter = 2 * time.Second
)

// accounts keeps the registrations at carriers that are this node's: one goroutine
// steps them, shards carry their REGISTERs.
type accounts struct {
	node  string
	world accountWorld
	log   *slog.Logger
	start time.Time
	wake  chan struct{} // one token: there is something to do

	mu      sync.Mutex // guards what others hand in
	table   *trunkgroup.Table
	nodes   []verdict.Node
	answers []accountAnswer
	rivals  []string                          // members whose account another node has registered
	own     map[string]accountWord            // by member: what this node said last
	others  map[string]map[string]accountWord // by member, then node: what the other nodes did

	owners accountOwners       // of here on the goroutine's alone
	held   map[string]*account // by member
	going  map[*account]bool   // contacts that are being taken out
	cancel context.CancelFunc
	done   chan struct{}
}

// account is one registration of this node.
type account struct {
	member  *trunkgroup.Member
	r       *uac.Registration
	callID  string
	addr    netip.AddrPort // of the registrar, that the last REGISTER went to
	turn    int            // which of its addresses is next
	told    uac.Status     // as last told
	renewed time.Time      // when it was, or will be, put in again for a rival
}

// accountAnswer is what became of a REGISTER.
type accountAnswer struct {
	account *account
	seq     uint32
	b2bua.RegisterResult
}

// accountWorld is what the registrations need of the node.
type accountWorld interface {
	// register sends a REGISTER.
	register(o b2bua.RegisterOrder)
	// registrar gives the addresses of an account's registrar, in the order to try them.
	registrar(m *trunkgroup.Member) []netip.AddrPort
	// tell lets the other nodes know of a registration; nil that it is none of this node's.
	tell(member string, value []byte)
	// heard tells that a registration, of whatever node, may have changed.
	heard()
	// alarm raises the alarm, or clears it with an empty detail.
	alarm(detail string)
}

func newAccounts(node, site string, world accountWorld, now time.Time, log *slog.Logger) *accounts {
	return &accounts{
		node: node, world: world, log: log, start: now, wake: make(chan struct{}, 1),
		nodes: []verdict.Node{{Name: node, Site: site}},
		own:   make(map[string]accountWord), others: make(map[string]map[string]accountWord),
		held: make(map[string]*account), going: make(map[*account]bool), done: make(chan struct{}),
	}
}

func (s *accounts) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go s.run(ctx)
}

// stop leaves the contacts where they are: the next owner takes them out when it
// registers its own.
func (s *accounts) stop(context.Context) error {
	if s.cancel != nil {
		s.cancel()
		<-s.done
	}
	return nil
}

// use takes the table in force.
func (s *accounts) use(t *trunkgroup.Table) {
	s.mu.Lock()
	changed := s.table != t
	s.table = t
	s.mu.Unlock()
	if changed {
		s.poke()
	}
}

// see takes the live nodes.
func (s *accounts) see(nodes []verdict.Node) {
	s.mu.Lock()
	s.nodes = nodes
	s.mu.Unlock()
	s.poke()
}

// changed hears of registrations at other nodes.
func (s *accounts) changed(list []soft.Change) {
	heard := false
	s.mu.Lock()
	for _, c := range list {
		if c.Kind != soft.KindAccount {
			continue
		}
		heard = true
		told, err := readTold(c.Value)
		if c.Reason != soft.Put || err != nil {
			delete(s.others[c.Key], c.Owner)
			continue
		}
		if s.others[c.Key] == nil {
			s.others[c.Key] = make(map[string]accountWord)
		}
		s.others[c.Key][c.Owner] = accountWord{told, c.Since, c.Owner}
		s.rivals = append(s.rivals, c.Key)
	}
	s.mu.Unlock()
	if heard {
		s.world.heard()
		s.poke()
	}
}

func (s *accounts) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *accounts) run(ctx context.Context) {
	defer close(s.done)
	timer := time.NewTimer(accountsWarmUp)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		next := s.step(time.Now())
		if next.IsZero() {
			next = time.Now().Add(time.Hour)
		}
		timer.Reset(max(time.Until(next), 0))
	}
}

// step does what is due and returns when the next thing is.
func (s *accounts) step(now time.Time) time.Time {
	s.mu.Lock()
	table, nodes, answers, rivals := s.table, s.nodes, s.answers, s.rivals
	s.answers, s.rivals = nil, nil
	s.mu.Unlock()
	if warm := s.start.Add(accountsWarmUp); now.Before(warm) || table == nil {
		return warm
	}
	s.owners.see(now, nodes, table.Sites())
	s.assign(now, table)
	for i := range answers {
		s.answered(now, &answers[i])
	}
	for _, key := range rivals {
		if a := s.held[key]; a != nil && !a.renewed.After(now) {
			at := now.Add(renewAfter)
			if least := a.renewed.Add(renewEvery); at.Before(least) {
				at = least
			}
			a.renewed = at
			a.r.Renew(at)
		}
	}
	next := s.owners.deadline(now)
	for _, a := range s.held {
		next = s.due(now, a, next)
	}
	for a := range s.going {
		if next = s.due(now, a, next); a.r.Status().State == uac.Removed {
			delete(s.going, a)
		}
	}
	s.tell(now)
	return next
}

// assign takes the accounts that are this node's and lets the others go: to another
// node just so, and out of the registrar when the configuration does not have them
// any more.
func (s *accounts) assign(now time.Time, t *trunkgroup.Table) {
	for key, a := range s.held {
		m := t.Member(key)
		switch {
		case m == nil || !registers(m) || moved(a.member, m):
			a.r.Stop(now)
			s.going[a] = true
			s.drop(key)
		case s.owners.of(now, t, m) != s.node:
			s.log.Info("a registration at a carrier is another node's now", "member", key)
			s.drop(key)
		case *m.Account != *a.member.Account: // another hash: the same contact goes on
			s.held[key] = newAccount(now, m)
		default:
			a.member = m
		}
	}
	for _, m := range t.Members() {
		if s.held[m.Key] == nil && registers(m) && s.owners.of(now, t, m) == s.node {
			s.held[m.Key] = newAccount(now, m)
		}
	}
}

func newAccount(now time.Time, m *trunkgroup.Member) *account {
	return &account{
		member: m, r: uac.NewRegistration(m.Account, rand.Uint32()>>1, now),
		callID: "reg-" + strconv.FormatUint(rand.Uint64(), 36) + strconv.FormatUint(rand.Uint64(), 36),
	}
}

func registers(m *trunkgroup.Member) bool {
	return m.Account != nil && m.Account.Register && !m.Disabled
}

// moved tells whether a member's account is now another one, or at another registrar.
func moved(was, is *trunkgroup.Member) bool {
	a, b := was.Account, is.Account
	return a.AOR != b.AOR || a.Registrar != b.Registrar || was.Transport != is.Transport || was.Addr != is.Addr || was.FQDN != is.FQDN || was.Port != is.Port
}

func (s *accounts) drop(key string) {
	delete(s.held, key)
	s.mu.Lock()
	delete(s.own, key)
	s.mu.Unlock()
	s.world.tell(key, nil)
}

// due sends what a registration has to say now, and returns the earlier deadline.
func (s *accounts) due(now time.Time, a *account, next time.Time) time.Time {
	if o, ok := a.r.Expire(now, rand.Uint64()); ok {
		s.send(now, a, o)
	}
	if d := a.r.Deadline(); !d.IsZero() && (next.IsZero() || d.Before(next)) {
		return d
	}
	return next
}

// send gives a REGISTER to a shard. A registrar that failed is asked at its next
// address; one whose name leads nowhere now, or is not looked up any more since its
// account goes, at the last one.
func (s *accounts) send(now time.Time, a *account, o uac.Order) {
	addrs := s.world.registrar(a.member)
	if len(addrs) == 0 && a.addr.IsValid() {
		addrs = []netip.AddrPort{a.addr}
	}
	if len(addrs) == 0 {
		a.r.Lost(now, "the registrar's name has no address yet: look at its DNS records", rand.Uint64())
		return
	}
	a.addr = addrs[a.turn%len(addrs)]
	seq := o.Seq
	s.world.register(b2bua.RegisterOrder{
		Member: a.member, Addr: a.addr, ServerName: registrarName(a.member), URI: a.r.URI(), CallID: a.callID, Order: o,
		Done: func(r b2bua.RegisterResult) {
			s.mu.Lock()
			s.answers = append(s.answers, accountAnswer{a, seq, r})
			s.mu.Unlock()
			s.poke()
		},
	})
}

// registrarName is the name that a TLS registrar's certificate must have.
func registrarName(m *trunkgroup.Member) string {
	if name := m.Account.Registrar.FQDN; name != "" {
		return name
	}
	return m.ServerName
}

func (s *accounts) answered(now time.Time, r *accountAnswer) {
	a := r.account
	if s.held[a.member.Key] != a && !s.going[a] {
		return // another node's meanwhile
	}
	if r.Message == nil {
		a.turn++
		a.r.Lost(now, lostReason(r.Err, a.addr), rand.Uint64())
		return
	}
	if code := r.Message.Status(); code >= 500 && code < 600 {
		a.turn++
	}
	own := func(uri string) bool { return slices.Contains(r.Own, uri) }
	if o, ok := a.r.Answer(now, r.Message, r.Contact, own, rand.Uint64()); ok {
		s.send(now, a, o)
	}
}

// lostReason words for people why no answer came.
func lostReason(err error, addr netip.AddrPort) string {
	return strings.TrimSpace("no answer from the registrar at " + addr.String() + ": " + err.Error())
}
