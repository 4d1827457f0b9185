package trunkgroup

// CauseCapacity is the cause of a member that has as many calls as it may have.
const CauseCapacity = "capacity"

// busyBits are those of the part of its limit that a member uses.
const busyBits = 24

// byCalls begins with the fewest calls of ours, in document order among equals (K-20,
// algorithm 10).
func (o *ordering) byCalls(tier []slot) {
	for i := range tier {
		tier[i].rank = uint64(o.calls(&tier[i]))
	}
	byRank(tier)
}

// byUse begins with the smallest part of its limit; one without a limit uses nothing
// of it. Equals take turns.
func (o *ordering) byUse(tier []slot) {
	for i := range tier {
		s := &tier[i]
		s.rank = o.use(s)
	}
	o.byRankInTurns(tier)
}

func (o *ordering) use(s *slot) uint64 {
	var calls, limit int
	if s.member.Nested == nil {
		calls, limit = o.v.sessions(*s, SessionsOwn), s.member.Limits.Calls
	} else {
		for _, in := range o.p.inner[s.from:s.to] {
			if in.member.Limits.Calls == 0 {
				return 0
			}
			calls, limit = calls+o.v.sessions(in, SessionsOwn), limit+in.member.Limits.Calls
		}
	}
	if limit == 0 {
		return 0
	}
	return uint64(max(calls, 0)) << busyBits / uint64(limit)
}

// calls are those of a far end that we count; of a group that stands there, those of
// its members that take calls.
func (o *ordering) calls(s *slot) (n int) {
	if s.member.Nested == nil {
		return max(o.v.sessions(*s, SessionsOwn), 0)
	}
	for _, in := range o.p.inner[s.from:s.to] {
		n += max(o.v.sessions(in, SessionsOwn), 0)
	}
	return n
}

// hasRoom tells whether a member may have one more call, as far as is counted here;
// whether it does is for its limit to say.
func (v *View) hasRoom(m *Member) bool {
	return m.Limits.Calls == 0 || v.Sessions == nil || v.Sessions.Sessions(m, nil) < m.Limits.Calls
}
