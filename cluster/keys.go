package cluster

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster/gossip"
	"github.com/tandem-sbc/tandem/cluster/interconnect"
	"github.com/tandem-sbc/tandem/cluster/keyring"
	"github.com/tandem-sbc/tandem/cluster/pki"
)

// Names of alarms about keys and certificates.
const (
	// AlarmTrust: keys or certificates keep this node and a peer apart.
	AlarmTrust = "cluster_trust"
	// AlarmKeys: the nodes do not all use and hold the same cluster keys.
	AlarmKeys = "cluster_keys"
	// AlarmCertificate: this node's certificate for the streams between nodes ends within CertificateWarning, or has.
	AlarmCertificate = "cluster_certificate"
)

// CertificateWarning is how long before its end a certificate raises the alarm.
const CertificateWarning = 30 * 24 * time.Hour

// keysSettle is how long nodes may differ in their keys before the alarm: as long as an operator copies files.
const keysSettle = 15 * time.Minute

// Times of the key watch.
const (
	keysInterval = 5 * time.Second
	keysRepeat   = 10 * time.Minute // records must be said again before an hour is over
)

// SetKeys replaces the cluster secrets of the running node: on the streams, in the gossip,
// and in what this node tells the others of itself.
func (n *Node) SetKeys(k *keyring.Keyring) error {
	n.mu.Lock()
	n.keys = k
	n.mu.Unlock()
	err := n.gossip.SetKeys(k)
	n.ic.SetKeys(k)
	n.keepWrapped()
	n.tellKeys(time.Now())
	return err
}

// SetIdentity replaces the certificate of the running node and the authorities that it trusts; plain: streams
// without TLS are still taken.
func (n *Node) SetIdentity(id *pki.Identity, plain bool) {
	n.mu.Lock()
	n.identity, n.plain = id, plain
	n.mu.Unlock()
	n.ic.SetIdentity(id, plain)
	n.tellKeys(time.Now())
}

// OnJoin registers the taker of streams of those who hold a join token; see
// interconnect.Interconnect.OnJoin. Call it before Start.
func (n *Node) OnJoin(open func() bool, take func(conn net.Conn, from string) error) {
	n.ic.OnJoin(open, take)
}

// RefusedBy counts the streams that this node did not take, by a word for the reason.
func (n *Node) RefusedBy() map[string]uint64 { return n.ic.RefusedBy() }

// RaiseAlarm sets an alarm of the node's surroundings beside its own; see the names of alarms.
func (n *Node) RaiseAlarm(name, detail string) { n.alarms.raise(name, detail) }

// ClearAlarm takes an alarm back.
func (n *Node) ClearAlarm(name string) { n.alarms.clear(name) }

// trust returns what the node proves itself by.
func (n *Node) trust() (k *keyring.Keyring, id *pki.Identity, plain bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.keys, n.identity, n.plain
}

// KeyState is what a node holds, by its own word.
type KeyState struct {
	Node string
	// At is when the node said so last; zero: it never did.
	At time.Time
	// Keys are the ids of the cluster keys it holds; the first is the one it uses.
	Keys []keyring.ID
	// TLS and Plain: it has a certificate, and it takes streams without one.
	TLS, Plain bool
	// Expires is when its certificate ends; Certificate and Authorities are fingerprints, shortened.
	Expires     time.Time
	Certificate string
	Authorities []string
	// Refused says why keys or certificates keep it apart from the asked node, since when; empty: they do not.
	Refused   string
	RefusedAt time.Time
	Up        bool
	Self      bool
}

// KeyStates returns what each known node holds, by name: this one, those that said so, and those
// that are peers and never did.
func (n *Node) KeyStates() []KeyState {
	states := map[string]KeyState{}
	for _, r := range n.gossip.Records() {
		if r.Key != keysRecord || len(r.Payload) == 0 {
			continue
		}
		if s, err := decodeKeyState(r.Payload); err == nil {
			s.Node, s.At = r.Observer, r.At
			states[r.Observer] = s
		}
	}
	peers := map[string]interconnect.Peer{}
	for _, p := range n.ic.Peers() {
		peers[p.Name] = p
		s := states[p.Name]
		s.Node, s.Up, s.Refused, s.RefusedAt = p.Name, p.Up, p.Refused, p.RefusedAt
		states[p.Name] = s
	}
	self := n.ownKeyState()
	self.Node, self.At, self.Up, self.Self = n.cfg.Node, time.Now(), true, true
	states[n.cfg.Node] = self
	list := make([]KeyState, 0, len(states))
	for name, s := range states {
		if _, peer := peers[name]; peer || s.Self || n.member(name) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b KeyState) int { return strings.Compare(a.Node, b.Node) })
	return list
}

func (n *Node) member(name string) bool {
	return slices.ContainsFunc(n.gossip.Members(), func(m gossip.Member) bool { return m.Name == name })
}

func (n *Node) ownKeyState() KeyState {
	keys, id, plain := n.trust()
	s := KeyState{Keys: keys.IDs(), TLS: id != nil, Plain: plain || id == nil}
	if id != nil {
		s.Expires, s.Certificate = id.Expires(), pki.Fingerprint(id.Leaf())[:shortPrint]
		for _, a := range id.Authorities() {
			s.Authorities = append(s.Authorities, pki.Fingerprint(a)[:shortPrint])
		}
	}
	return s
}

// tellKeys tells the other nodes what this one holds.
func (n *Node) tellKeys(now time.Time) {
	n.mu.Lock()
	n.keysTold = now
	n.mu.Unlock()
	if err := n.Publish(keysRecord, n.ownKeyState().append(nil)); err != nil {
		n.log.Debug("the state of the keys was not told", "error", err)
	}
}

// keepKeys watches over keys and certificates until the node stops.
func (n *Node) keepKeys() {
	tick := time.NewTicker(keysInterval)
	defer tick.Stop()
	for {
		now := time.Now()
		n.mu.Lock()
		due := now.Sub(n.keysTold) >= keysRepeat
		n.mu.Unlock()
		if due {
			n.tellKeys(now)
		}
		n.watchKeys(now)
		n.keepWrapped()
		select {
		case <-n.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// watchKeys raises and clears the alarms about keys and certificates.
func (n *Node) watchKeys(now time.Time) {
	_, id, _ := n.trust()
	n.alarmIf(AlarmCertificate, expiring(id, now))
	var refused []string
	states := n.KeyStates()
	for _, s := range states {
		if s.Refused != "" && !s.Up {
			refused = append(refused, fmt.Sprintf("%s since %s: %s", s.Node, s.RefusedAt.UTC().Format(time.RFC3339), s.Refused))
		}
	}
	n.alarmIf(AlarmTrust, strings.Join(refused, "; "))
	odd := KeysDiffer(states)
	n.mu.Lock()
	switch {
	case odd == "":
		n.keysOdd = time.Time{}
	case n.keysOdd.IsZero():
		n.keysOdd = now
	}
	settled := odd == "" || now.Sub(n.keysOdd) < keysSettle
	n.mu.Unlock()
	if settled {
		odd = ""
	}
	n.alarmIf(AlarmKeys, odd)
}

// direct reports whether a node's records come by a stream on which a certificate proves its
// name, so that gossip has nothing to say of them.
func (n *Node) direct(node string) bool {
	_, id, plain := n.trust()
	if id == nil || plain {
		return false
	}
	p, ok := n.ic.Peer(node)
	return ok && p.Up && p.TLS
}

func (n *Node) alarmIf(name, detail string) {
	if detail == "" {
		n.alarms.clear(name)
		return
	}
	n.alarms.raise(name, detail)
}

// expiring says that a certificate ends soon, or nothing.
func expiring(id *pki.Identity, now time.Time) string {
	if id == nil {
		return ""
	}
	end := id.Expires().UTC().Format(time.RFC3339)
	switch left := id.Expires().Sub(now); {
	case now.Before(id.Leaf().NotBefore):
		return fmt.Sprintf("this node's certificate is valid from %s, and its clock says %s: no peer takes it now; check the clock", id.Leaf().NotBefore.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	case left <= 0:
		return fmt.Sprintf("this node's certificate ended at %s: streams that stand go on, new ones are refused; put a new one in its place (tandem cluster cert)", end)
	case left <= CertificateWarning:
		return fmt.Sprintf("this node's certificate ends at %s, in %d days; put a new one in its place (tandem cluster cert)", end, int(left/(24*time.Hour)))
	}
	return ""
}

// KeysDiffer says in what nodes differ in their cluster keys, or nothing. Nodes that never said what they hold,
// since they are lost or of an older version, are left out.
func KeysDiffer(states []KeyState) string {
	groups := map[string][]string{}
	for _, s := range states {
		if len(s.Keys) > 0 {
			keys := make([]string, len(s.Keys))
			for i, k := range s.Keys {
				keys[i] = k.String()
			}
			text := "uses " + keys[0]
			if len(keys) > 1 {
				text += " and still takes " + strings.Join(keys[1:], ", ")
			}
			groups[text] = append(groups[text], s.Node)
		}
	}
	if len(groups) < 2 {
		return ""
	}
	var parts []string
	for text, nodes := range groups {
		parts = append(parts, strings.Join(nodes, ", ")+" "+text)
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ") + ": finish the rotation, so that all key files are alike (tandem cluster key status)"
}
