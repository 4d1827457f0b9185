// Package quality counts what calls to members come to and says which members get
// none for a while, because too few of their calls were answered or too many were
// short (D10).
//
// A Watch is shared by all calls of a node and takes no lock on their path: a
// count is a ring of time slots, each counter one atomic word. What a node counts it
// tells the others (Spread), what they count it hears (Heard), and every node judges
// the sum by the same rule (trunkgroup.Quality.Judge). So nodes agree within the
// delay of that exchange. Counts of a node that is gone go with it.
//
// # Bars
//
// A member that does not meet a demand is barred for the cooldown of its group. The
// bar is told with the counts: whoever hears of it takes it over, so that a node
// which has just started bars the same members until the same time. Afterwards the
// counts begin anew: what was counted before the end of a bar never counts again.
// Whose bar is older wins. A bar is of the demands by which it was made: when the
// document demands something else, it is over.
//
// Whether a bar takes a member out is decided where plans are made: it never takes
// out the last far end of a group in a site.
//
// # Clocks
//
// What nodes tell each other are ages, from the moment of telling. Their clocks are
// never compared.
package quality
