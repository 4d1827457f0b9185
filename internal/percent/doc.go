// Package percent writes text into fields of header values that nodes send each
// other: every octet that is not plainly harmless there is %XX. Tokens of hand-offs
// and lists of attempts are made of such fields.
//
// It is not the escaping of URIs: those have rules of their own for each part.
package percent
