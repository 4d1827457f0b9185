// Package cdrquery says which call records an operator looks for, which of those that
// nodes hold count, and which belong together.
//
// Every node keeps the records that it wrote itself. A question goes to all nodes of all
// sites; what they find is put together here: of each call id and kind the record with
// the highest version counts, whichever node wrote it (DEC-24), and the part of a peer
// site stands under the call that it belongs to.
//
// The package is pure: it reads records as JSON, the form in which they are on disk and
// between nodes, and keeps that form whole, so that a field which a later version adds is
// shown by a node that does not know it.
package cdrquery
