package cluster

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// Times of the membership of the consensus.
const (
	// DefaultVoterTimeout is how long a voter must be dead before it is replaced.
	DefaultVoterTimeout = 10 * time.Minute
	// DefaultVoterSettle is how long a node must be well before it gets a vote.
	DefaultVoterSettle = 30 * time.Second
	// fewVoters is the number below which any node may get a vote, and below which
	// none loses it.
	fewVoters = 3
)

// tend changes the membership of the consensus by at most one step (DEC-14): "a voter
// dead for 10 min is replaced by a live non-voter of its site while quorum stands;
// never below three voters, never automatically without quorum". Only a leader calls
// it, and its change needs a majority to commit, so there is a quorum. Founding voters
// that came back without a vote get it again while votes are missing. A voter that lost
// its log loses its vote until it has the log again. Dead members
// without a vote are removed after the same time.
func (n *Node) tend(servers []raft.Server, now time.Time) {
	e := electorate{seats: n.takeCensus(now), servers: servers, now: now, cfg: &n.cfg}
	var what string
	var s raft.Server
	var err error
	if s, what = e.next(); what == "" {
		return
	}
	switch what {
	case takeVote:
		err = n.raft.do(func(r *raft.Raft) raft.Future { return r.DemoteVoter(s.ID, 0, rpcTimeout) })
	case giveVote:
		err = n.raft.do(func(r *raft.Raft) raft.Future { return r.AddVoter(s.ID, s.Address, 0, rpcTimeout) })
	case remove:
		err = n.raft.do(func(r *raft.Raft) raft.Future { return r.RemoveServer(s.ID, 0, rpcTimeout) })
	}
	if err != nil {
		n.log.Warn("the consensus was not changed", "step", what, "peer", string(s.ID), "error", err)
		return
	}
	n.log.Warn("the consensus was changed", "step", what, "peer", string(s.ID))
}

// Steps of a change of the membership.
const (
	giveVote = "give a vote"
	takeVote = "take the vote away"
	remove   = "remove"
)

// electorate decides what the next step is.
type electorate struct {
	seats   map[string]seat
	servers []raft.Server
	now     time.Time
	cfg     *Config
}

// next returns the next step and whom it concerns; an empty step when all is well.
func (e *electorate) next() (raft.Server, string) {
	voters, fit := 0, 0
	var gone []raft.Server // voters that are dead for long
	for _, s := range e.servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		switch seat := e.seats[string(s.ID)]; {
		case seat.alive && seat.blank:
			// It lost its log and does not vote. It gets its vote again when it has ours.
			return s, takeVote
		case seat.alive:
			fit++
		}
		if e.gone(s) {
			gone = append(gone, s)
		}
	}
	if s, ok := e.missing(voters); ok {
		return s, giveVote
	}
	for _, dead := range gone {
		if s, ok := e.successor(dead); ok {
			return s, giveVote
		}
		// The successor has its vote: the living are enough without the dead one.
		if voters > e.target() && voters-1 >= fewVoters && fit >= (voters-1)/2+1 {
			return dead, remove
		}
	}
	for _, s := range e.servers {
		if s.Suffrage != raft.Voter && e.gone(s) && !e.seats[string(s.ID)].gossiped {
			return s, remove
		}
	}
	return raft.Server{}, ""
}

// target is the number of votes that the cluster was founded with.
func (e *electorate) target() int {
	if len(e.cfg.Voters) == 0 {
		return fewVoters // a later node leads, whose file lists no voters
	}
	return len(e.cfg.Voters)
}

// gone reports a member that was dead, or out of the consensus, for long.
func (e *electorate) gone(s raft.Server) bool {
	seat, ok := e.seats[string(s.ID)]
	return ok && !seat.alive && e.now.Sub(seat.up) >= e.cfg.VoterTimeout
}

// settled reports a member without a vote that has been well for a while.
func (e *electorate) settled(s raft.Server) bool {
	seat, ok := e.seats[string(s.ID)]
	return ok && s.Suffrage != raft.Voter && seat.alive && !seat.blank && e.now.Sub(seat.since) >= e.cfg.VoterSettle
}

// missing returns who gets a vote that is missing: a founding voter, or anybody
// while there are less than three.
func (e *electorate) missing(voters int) (raft.Server, bool) {
	if voters >= e.target() {
		return raft.Server{}, false
	}
	for _, s := range e.servers {
		founder := slices.ContainsFunc(e.cfg.Voters, func(v Voter) bool { return v.Name == string(s.ID) })
		if founder && e.settled(s) {
			return s, true
		}
	}
	if voters >= fewVoters {
		return raft.Server{}, false
	}
	return e.first(func(s raft.Server) bool { return !e.seats[string(s.ID)].witness })
}

// successor returns who replaces a dead voter: a node of its site, unless the site has
// a successor for it already.
func (e *electorate) successor(dead raft.Server) (raft.Server, bool) {
	voters := 0
	for _, s := range e.servers {
		if s.Suffrage == raft.Voter {
			voters++
		}
	}
	if voters > e.target() {
		return raft.Server{}, false
	}
	old := e.seats[string(dead.ID)]
	return e.first(func(s raft.Server) bool {
		seat := e.seats[string(s.ID)]
		return seat.site == old.site && seat.witness == old.witness
	})
}

// first returns the first settled member that suits.
func (e *electorate) first(suits func(raft.Server) bool) (raft.Server, bool) {
	for _, s := range e.servers {
		if e.settled(s) && suits(s) {
			return s, true
		}
	}
	return raft.Server{}, false
}
