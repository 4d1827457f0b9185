package b2bua

import (
	"errors"

	"github.com/tandem-sbc/tandem/geo"
	"github.com/tandem-sbc/tandem/sbc/sip"
)

// Keys are what a shard makes and reads identifiers and hand-off tokens under: the
// first of each makes, all of them are read.
type Keys struct {
	Identifiers, Handoff [][]byte
	// Accounts are for the users of our Contacts at carriers.
	Accounts [][]byte
}

// SetKeys replaces the keys. Calls go on: a dialog that this shard owns is found without
// its key, and what other nodes minted is read as long as its key is among them.
func (s *Shard) SetKeys(k Keys) {
	s.cfg.Minter.SetKeys(k.Identifiers[0], k.Identifiers[1:]...)
	s.handoff = k.Handoff
	s.accounts.setKeys(k.Accounts)
}

// token reads the hand-off token of an INVITE under whichever key verifies it.
func (s *Shard) token(m *sip.Message) (geo.Token, error) {
	for _, key := range s.handoff[:len(s.handoff)-1] {
		t, err := geo.ParseToken(m.Header(sip.Handoff), key, m.CallID(), m.FromTag(), s.cfg.Node)
		if !errors.Is(err, geo.ErrTokenMAC) {
			return t, err
		}
	}
	return geo.ParseToken(m.Header(sip.Handoff), s.handoff[len(s.handoff)-1], m.CallID(), m.FromTag(), s.cfg.Node)
}
