// Package hunt is the sequence engine: it takes one call through an ordered list of targets, then at
// most once to the peer site, and gives the caller exactly one final response.
//
// It serves the members of a trunk group, the carriers of a route and the two of them together. It knows
// no SIP message and opens no socket: the call tells what happened (a provisional, a final, an error, a
// hang-up, the time) and carries out the actions that come back, in order.
//
//	New, Start           the list, the limits and the instant of the caller's INVITE
//	Provisional, Final,  what an attempt's far end said or what became of its INVITE; an event of an
//	TransportError,      attempt that is no longer in flight is ignored (S-052), whatever it is
//	Undialable
//	HandoffProvisional,  the same for the peer site
//	HandoffDone
//	Retarget, Again      other targets in the place of those that have not had their turn; another list
//	                     in the place of one that has failed (S-045)
//	Cancel, Stop         the caller gave up; the call ends for a reason of its own
//	Unsent               no INVITE of an attempt that was given up had left
//	Expire, Deadline     the clock
//	Attempts             what was tried, for the record and for the peer
//	FinalResponse        the caller's final over all attempts of both sites, one pure function
//
// # Timers of an attempt
//
// All count from the instant at which that attempt was dialled. BTimer waits for any provisional, 100
// too. Progress waits for 101 to 199 (S-060). Ring takes over once progress was shown (S-062), unless
// the target's progress is not believed (RerouteAfterProgress, S-067). Beside them MaxPDD runs from the
// caller's INVITE until a 18x was relayed, over all attempts and both sites (DEC-05).
//
// # What ends a target, the local list and the sequence
//
// A final in the target's AdvanceOn, a silence when 408 is in AdvanceOn, and every transport error lead
// to the next target. A 6xx, and a final that is neither in AdvanceOn nor reason for a hand-off, is
// definitive and goes to the caller as it is (S-033, S-034). A target that rang and was not answered in
// time ends the sequence (S-063). When the local list ends otherwise, the hand-off rule DEC-04 decides
// between the peer site and a final response.
//
// Targets belong to groups (Group), each with causes and bounds of its own: a final in NeverAdvance is
// definitive whatever else lists it; MaxAttempts leaves the rest of the group out; when Setup has passed
// before anybody of the group showed progress, the other groups have their turn (C9, P-38).
//
// # Forks
//
// A group that is Parallel dials all far ends of one tier at once (K-20). The first 2xx wins, a 6xx ends
// all (RFC 3261 16.7), any other end waits for the rest. Then the worst of them counts: a definitive
// final before a target that rang out, that before what leads to the peer site or on to the next tier.
// The list of attempts keeps a fork together (Attempt.Fork), and FinalResponse judges a last fork by the
// attempt of it that says most.
//
// The rule's "nobody showed progress at its end" is read so: the attempt that ended the local list did
// not ring out after progress. A final response of an attempt that had rung before counts by its code.
//
// The package is pure: no I/O, no goroutine, no clock. After New nothing allocates until an attempt
// list outgrows its first size, a fork begins or a failure is worded.
package hunt
