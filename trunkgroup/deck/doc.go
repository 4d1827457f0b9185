// Package deck routes by rate decks: lists of what calls to prefixes cost, for those who
// have no decision server.
//
// # Purpose
//
// A deck is read from CSV (ReadCSV), every fault with its line, and packed into an
// immutable Deck of some 30 octets a row, which nodes pass on and keep as Encode writes
// it. A Book puts the decks beside the route plans of a document and answers calls.
//
// # Rules
//
//   - For each carrier the row of its longest prefix that covers the number and is in
//     effect counts, and no other. A row is in effect from effective_from up to, and not
//     including, effective_to; of several rows of one carrier and prefix the one that
//     began last.
//   - A row "block" says that its carrier takes no calls there, whatever shorter prefixes
//     of it cost.
//   - A deck of what customers pay has no carriers. Where it has no price nothing is sold.
//   - Carriers that leave less than the margin are left out; the others are sorted by the
//     plan's order, and the first of them, up to max_routes, are the routes.
//   - Prices are integers of billionths: nothing is rounded before it is compared.
//
// # What a call costs
//
// The rows that cover a number are those of the longest prefix in the deck that begins it,
// and of the prefixes that begin that one. So the routes are a function of that place, and
// a Book keeps them by it until the next row comes into effect or ends: a call takes two
// searches in sorted arrays, no lock, and allocates nothing.
//
// The package is pure but for the atomic pointers of what a Book keeps: time is an argument.
package deck
