package verdict

import (
	"time"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// maintain drains a member that is in a window of the document, and notes when
// the next one begins or ends. An operator's word stands above it.
func (b *Board) maintain(now time.Time, s *Status) {
	if len(s.Member.Maintenance) == 0 {
		return
	}
	b.Until = earlier(b.Until, s.Member.NextMaintenance(now))
	w, until := s.Member.UnderMaintenance(now)
	if w == nil {
		return
	}
	s.State, s.Since, s.Until = trunkgroup.Draining, w.Since(now), until
	s.Reason = "maintenance until " + until.UTC().Format(time.RFC3339)
	if w.Reason != "" {
		s.Reason += ": " + w.Reason
	}
}

// outOfUse tells whether nobody expects a member to answer now: such a member is no
// sign for or against a panic.
func (s *Status) outOfUse(in *Input) bool {
	if s.Member.Disabled || s.Member.Direction == trunkgroup.DirectionIn {
		return true
	}
	if w, _ := s.Member.UnderMaintenance(in.Now); w != nil {
		return true
	}
	knob, ok := in.knob(s.Member.Key)
	return ok && (knob.State == trunkgroup.AdminDisabled || knob.State == trunkgroup.AdminInactive)
}
