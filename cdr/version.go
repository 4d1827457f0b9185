package cdr

// BySurvivor is the value of Record.ClosedBy in a record that another node wrote for
// a call whose node is gone (DEC-24).
const BySurvivor = "survivor"

// SurvivorVersion is the version of the record that a survivor writes when survivors
// have closed the call so many times before: 1, 3, 5 and so on. A call is closed
// again only if its node came back with it from behind a partition and then died.
func SurvivorVersion(closings int) int { return 2*max(closings, 0) + 1 }

// OwnerVersion is the version of the record of an answered call that its own node
// writes, which knows of so many closings by survivors: 2, 4, 6 and so on. It is above
// that of a further closing that the node has not heard of, so it supersedes this too.
func OwnerVersion(closings int) int { return 2*max(closings, 0) + 2 }
