// Package number reads called and calling numbers the way a trunk group writes
// them, and writes them the way another one wants them.
//
// Inside Tandem a number is E.164 with its plus. What a far end sends becomes
// that before any lookup; what cannot be read becomes an error with the code
// for the caller, never a guess. Short numbers that the policy preserves (911)
// pass as they are.
//
// Towards carriers a named policy says how numbers look at each place of an INVITE: see
// AppendWritten.
//
// The package is pure and does not allocate when the caller's slice has room.
package number
