// Package cdr is the call detail record: what one call was, with every attempt
// that was made for it, and its form as one line of JSON.
//
// The origin node of a call writes one record of kind call, with the attempts
// of both sites inside. A peer site that took the call over writes a record of
// kind handoff under the same call id, which is never rated (DEC-24). Sinks
// deliver at least once; consumers keep, for each call id and kind, the highest
// version.
//
// The package is pure and uses the standard library only.
package cdr
