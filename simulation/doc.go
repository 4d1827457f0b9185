// Package simulation plays a whole cluster with everything around it in one
// single-threaded loop over the pure cores (DEC-20): two sites of two nodes and
// a witness, carriers, PBXs, callers, and a network with delay, loss, reorder,
// duplication, partitions, one-way cuts, crashes, pauses and skewed clocks. All
// of it comes from one seed, and one seed gives one trace: [Result.Hash] is the
// hash of everything that happened, and a test holds two runs against each
// other.
//
// # What is real and what is a model
//
// Real, byte for byte the code that a node runs: the call engine with hunt,
// transactions, dialogs and hand-off (sbc/b2bua, geo), identifiers (sbc/mint),
// the state machine of a member (trunkgroup.Health), whose verdict counts
// (monitor/verdict), and the state that the config log replicates (cluster/fsm).
//
// Models, because their libraries use goroutines and global randomness: gossip
// (delayed, lossy, reordered, with a full exchange now and then), the config
// log (what a majority can reach is put into one order), and the streams of
// the interconnect (in order, late under loss, ended after the silence of
// DEC-21). The decision server of a route plan answers at once, late or never.
// User agents share no code with the engine but the parser.
//
// # What must hold
//
// A call that a live, reachable member could take is taken; at most one
// answered B leg; at most one accepted hand-off per call and peer site; every
// call gets a final response; counters end at zero; tables, verdicts and
// replicated state converge once the network is whole; one rated record per
// call. What each of these excuses stands beside its check in check_*.go: a
// call on a node that dies has no promise but that nothing of it stays.
//
//	go test ./simulation -sim.seed 17 -sim.v     one seed with its trace
//	go test ./simulation -sim.seeds 100000       many, from -sim.first on
package simulation
