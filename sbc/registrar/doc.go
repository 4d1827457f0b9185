// Package registrar decides on registrations (RFC 3261 10.3, R-20 to R-28, DEC-15): it reads a
// REGISTER of a sender that is known, says which bindings change by it, and how it is answered.
//
// Parse takes a REGISTER apart under the rules of its member, Decide compares it with the bindings
// that the address of record has, and Extra writes the header lines of the answer. Nothing of them
// changes half: a refusal leaves all bindings as they were.
//
// # What a binding is known by
//
// A contact with an instance and a reg-id is known by these (RFC 5626), any other by user, host,
// port and transport of its URI, and where the URI does not name the address that the
// REGISTER came from, by that address too: two PBXs behind two NATs may call themselves alike. The
// port is no part of it, since a NAT changes it while the PBX stays. The ID is a hash of that.
//
// # Where requests go
//
// Always back to the address that the REGISTER came from, whatever the contact says: nobody can
// have calls sent to a third party by registering its address. By UDP a contact that names this
// address is reached from every node; any other is behind a NAT, and is reached from the socket
// that took the REGISTER. By a stream it is reached by the connection of the REGISTER and by no
// other.
//
// # Records
//
// A Record is what nodes tell each other of a binding. Its form is a list of tagged fields; readers
// skip the tags that they do not know, so that versions can stand side by side.
package registrar
