// Package octets reads the records that nodes tell each other and that they keep on
// disk: single octets, numbers as uvarints, and texts with their length before them.
//
// What is read may come from a node of another version or from a damaged file. A
// Reader trusts no length: after the first fault it is at its end, gives zeros, and
// says so, which a caller asks once, when it has read all that it wants.
package octets
