// Package sim holds the simulated world around an SBC: far ends (customer PBXs
// and carriers) that answer calls by a script, and a load program that places
// calls as the SRV client of a carrier would.
//
// The package is used by unit and end-to-end tests, by `tandem demo`, by
// `tandem load` and by the benchmark: one simulator to trust. It speaks SIP with
// sbc/sip and sbc/transport but shares no call logic with the SBC: its
// transactions, dialogs and digests are its own, so that a fault of the SBC's
// state machines cannot hide behind the same fault here.
//
// # Cores and shells
//
// [Callee] and [Caller] are pure: a packet and the time go in, datagrams leave
// through a [Sender], and Deadline names the next moment at which Expire wants to
// run. A virtual-time test drives them directly. [FarEnd] and [Load] are the
// shells that put them on real sockets: one lock and one timer per shell, no
// goroutine per call.
//
// # Accounts
//
// A far end counts what it saw exactly ([Account]): INVITE transactions, distinct
// Call-IDs, answers, ACKs, BYEs, CANCELs, legs that ring or are up, and every
// breach of protocol ([Fault]). The load program keeps one [CallRecord] per call
// and names each failed call, the node it went to and why it failed. Tests assert
// their invariants on these numbers.
package sim
