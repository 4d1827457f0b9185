// Package interconnect keeps a warm TCP stream from every node of a cluster to
// every other one and tells within about a second which of them live.
//
// # Purpose
//
// Hand-offs, forwarded requests, verdict records and soft state go from node to
// node as small frames. A frame must leave at once (no dial, no handshake at call
// time), must never wait behind a slow peer, and the sender must know beforehand
// whether the peer lives. The package knows no domain type: a frame is a kind and
// octets.
//
// # Streams
//
// Each node dials every other node and writes its frames on the stream that it
// dialled; it reads frames from the streams that it accepted. So a pair of nodes
// holds two streams, each with one owner who dials, re-dials and closes it, and
// no rule is needed for streams that cross. Every stream opens with the handshake
// of package hello. The listeners take the streams of other protocols of the
// cluster (raft, proposals) as well, told apart by the purpose in the hello, so a
// node may do with one port to open and to relay.
//
// Peers come from the configuration and from gossip (SetPeers), and a node that
// proves itself by the handshake is dialled back at the address that it gave: a
// node joins by reaching any one member.
//
// # Trust (DEC-08)
//
// With an identity every stream, of every purpose, is inside mutual TLS 1.3, and the
// name in the certificate is that of the peer, whatever its hello says. The proof of
// the cluster key stays inside: a certificate alone opens nothing, and a node that lost
// its key file is told so. For the same reason the MAC of hand-off tokens is kept: it costs
// little, holds in clusters without TLS, and is one code path in both.
//
// Keys, certificate and authorities change while streams stand (SetKeys, SetIdentity). Streams
// that are not of the first choice any more are made anew beside the standing ones, without a gap
// (renew.go); those that may not stand are closed three seconds later. Every stream between
// peers is renewed once an hour, so that TLS keys stay fresh and an expired certificate
// shows while the old stream still works.
//
// # Loss (DEC-21)
//
// Every 250 ms each node sends a ping on its stream and gets a pong on the same.
// Both carry the age of what the sender last heard from the receiver, on whatever
// stream. So each side knows the latest moment at which both directions worked; a
// link that is cut one way counts as cut on both ends, and a loss burst that
// stalls one of the two streams does not count as long as the other one moves. A
// peer is lost when that moment is four intervals old, or srtt + 4 x rttvar if
// that is longer, and at once when the own stream is reset. The judgement is a
// pure state machine, Detector. A process that slept (paused, starved of CPU)
// gives its peers one more interval before it judges them.
//
// # Datagrams
//
// A segment that TCP lost holds up everything behind it for longer than any patience
// that sees a real death in time: at 10 % loss and 150 ms one way, streams alone give
// dozens of false deaths per hour. So small signed datagrams go beside each stream,
// every 100 ms, to the address where the stream ends, and say what pings say. They
// also measure the round trip, which no lost segment falsifies. They only keep a peer
// up, and not for longer than a stream may wait for TCP's repeats (10 s): frames go by
// stream. The writer of a stream announces on it how its datagrams are signed. Where
// UDP is not let through, or with a build that knows none, the streams judge alone.
//
// # Bounds
//
// Frames, queues, handshakes in flight, handshake time and write time are bounded. A
// full queue drops the new frame and says so; a peer that does not read is cut off.
// Frames of an unknown version or kind are counted and dropped.
package interconnect
