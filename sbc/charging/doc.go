// Package charging holds what calls owe: the client's side of online charging (Ro: RFC 8506 and
// 3GPP TS 32.299) and of offline charging (Rf: RFC 6733 section 9 and TS 32.260), as state machines of
// one call each. They know no octet of Diameter, no socket and no clock.
//
//	Online   reserves before a call is dialled, asks again in time, ends a call without credit
//	Offline  what is told of a call when it is answered, while it is up, and when it ends
//	Request  what is asked or told, once; Answer what came back
//	Seconds  the one place where time becomes what is charged
//
// A machine takes what happened and returns Actions, which the caller carries out in order. Its next
// deadline is a result. A request that must not be lost is kept (Keep) by who has a disk, and repeated
// until somebody answers; only what a call waits for is sent at once (Send).
//
// # Seconds
//
// The record of a call, its Ro usage and its Rf usage agree to the second, because all of them are made
// of the same two instants, the answer and the end, and rounded up once: a started second counts. While
// a call is up its usage so far is rounded in the same way, and each report is the difference to the
// last one, so the reports add up to the whole.
//
// # Reading order
//
// call.go, request.go, online.go, online_answer.go, offline.go.
package charging
