//go:build linux

// Command bench measures Tandem beside other SIP servers on this machine: one
// server at a time on one processor core, the load program of sbc/sim on another,
// the servers in turn so that noise hits all alike.
//
//	go run ./bench                 every measurement, three runs each, about half an hour
//	go run ./bench -short          one quick pass, under a minute: it shows that nothing has rotted
//	go run ./bench -check          our load program against SIPp and another generator
//
// Servers: direct (none: the load program talks to its own far ends; what it takes
// to ring there is subtracted from the others' post-dial delay), tandem, kamailio
// (a transaction-stateful, record-routing proxy with the dispatcher module) and
// kamailio-topos (the same with topology hiding by topos on redis). One that is
// not installed is left out with a message.
//
// Measurements: processor time per call at 200 and 600 calls per second and at
// the maximum; the maximum, which is the highest rate with less than 0.1 % failed
// calls; goodput (calls answered and ended well) at 1.5 and 2 times the maximum;
// the added post-dial delay, median and 99th percentile; memory per held call at
// 10,000 calls.
//
// Each measurement is one line of JSON in the file given by -out; the table of
// medians and ratios goes to standard output. Nothing is asserted: the exit code
// tells only whether the measurements could be made.
package main
