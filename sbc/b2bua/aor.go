package b2bua

import "strings"

// aorPrefix begins the called party of a call to an address of record, where
// others have a number.
const aorPrefix = "sip:"

// toAOR tells whether the call was routed by an address of record.
func (c *Call) toAOR() bool { return strings.HasPrefix(c.called, aorPrefix) }
