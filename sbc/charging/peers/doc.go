// Package peers keeps connections to Diameter servers: capabilities, watchdog (RFC 3539), reconnecting,
// and which of them a request goes to. What is asked is a charging.Request; when and whether it is
// asked again is for who asks.
//
// Peers stand in order: the first that is well is asked, the others are there for when it is not. A
// request that is out when its connection is lost comes back at once, so that it can be repeated
// elsewhere.
package peers
