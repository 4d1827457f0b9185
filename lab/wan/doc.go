// Package wan is a WAN emulator in user space, for kernels without sch_netem.
//
// A Link joins two network namespaces with a pair of TUN devices and carries
// the IP packets between them with a delay, jitter, loss, duplication or a cut
// that can be set for each direction while traffic flows. It can write what
// enters it to a pcap stream, so that a test counts what crosses the WAN
// without a capture program beside it.
//
// The pipe that delays and loses packets is free of devices and is tested in
// virtual time; devices are in tun.go only.
package wan
