// Package front is a load balancer for SIP over UDP that stands before the nodes of
// a cluster, as an operator's would: it sends each new call to the next healthy
// node, keeps a call at its node, asks the nodes for their health again and again,
// and gives what belongs to a node that is not healthy to another one. It measures
// what came of each call on the way.
//
// It lets SIPp, which knows one address and no failover, call a cluster whose nodes
// die: what is lost then is lost for as long as the death of a node is not seen.
package front
