// Package dispatcher asks a Kamailio of this machine, with its dispatcher module,
// where it would send calls. Tests compare hash-mod with it, and bench/spread puts
// the two side by side when a member goes and comes back.
//
// # Shape
//
// Start runs one Kamailio on loopback that answers OPTIONS statelessly: the reason
// phrase is the destination that the dispatcher module chose. Place asks about many
// keys at once; SetState and Load change the members while it runs.
package dispatcher
