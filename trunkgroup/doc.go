// Package trunkgroup is the domain of Tandem: what the cluster document says,
// and every routing decision that follows from it.
//
// A trunk group is a named set of members with one policy. Customers receive
// calls through groups of role origination-customer, which are found by the
// called number; they place calls through groups of role termination-customer,
// which are found by source or by digest; carriers are groups of role
// pstn-provider.
//
// The way through the package is the way of a document:
//
//	Document  plain structs, as read from YAML (package yamldoc) or JSON
//	Validate  every fault at once, with its path and a remedy
//	Compile   an immutable Table with its indexes: called numbers, sources,
//	          credentials, route plans
//	NumberTable  called numbers beside the document: very many, each change of
//	          which shares all that did not change; Table.WithNumbers
//	View      the live facts beside a Table: states, addresses, panic
//	Plan      the whole try-order of one group in one site, for one call
//	Explain   the same functions, with every step told in words
//	Health    the state machine of one probed member
//
// The package is pure: no input or output, no goroutine, no clock. Time is an
// argument. A Table may be read by any number of goroutines.
package trunkgroup
