// Wanlink carries the packets of one emulated WAN link between two network
// namespaces until it is killed, for labs that are built by scripts:
//
//	wanlink -delay 15ms NAMESPACE INTERFACE ADDRESS NAMESPACE INTERFACE ADDRESS
//
// Addresses are in prefix notation. It makes both interfaces, prints one line
// when they are up, and takes them away by ending. Package wan does the rest.
package main
