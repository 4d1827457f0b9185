// Package demo runs two sites on one machine and takes them apart: nodes and a
// witness as child processes on loopback addresses, simulated carriers and PBXs
// with real SIP, a caller program that never pauses, and a relay that stands
// where the WAN would be, so that it can be cut. It needs no root and leaves
// nothing behind.
package demo
