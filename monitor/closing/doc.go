// Package closing decides which surviving node writes the record of a call whose
// node is gone (DEC-24).
//
// Every node holds the answered calls of all others as entries of soft state. When a
// node has been lost for longer than Config.After, each survivor goes through its
// calls; for each of them one node is named by rendezvous hashing over the living
// ones, those of the owner's site first, and that one writes the record. It says so to
// the others only when the record is on disk. So if the survivor dies in between, the
// next one by the same rule writes it, and if it dies a moment later, the record
// stands twice with one version: readers who keep the highest version per call id and
// kind, as they must, see it once.
//
// An owner that was only cut off supersedes: its own record has a higher version than
// those of survivors. How often survivors closed a call is counted, because a call
// that came back from behind a cut can be closed a second time.
//
// Clocks are not compared. The end is the answer, by the owner's clock, plus the time
// from the answer to the owner's last heartbeat as it passed on this node's clock.
//
// The package is pure.
package closing
