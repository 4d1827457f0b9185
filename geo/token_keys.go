package geo

import "net/netip"

// Keys are what distributions at the origin went by and the INVITE of a hand-off does
// not show, so that the peer site places the call as the origin would. They are empty
// where nothing goes by them, and from nodes that do not know them.
type Keys struct {
	// CallID is the Call-ID of the caller's INVITE.
	CallID string
	// From is the URI in its From, where the hand-off shows another one.
	From string
	// User is the digest user.
	User string
	// Caller is the caller's number, E.164 where it could be read.
	Caller string
	// Source is where the call came from; invalid when nobody says.
	Source netip.Addr
}

// append appends the fields that are set.
func (k *Keys) append(dst []byte) []byte {
	for _, f := range [...]struct{ name, value string }{
		{";key.call", k.CallID}, {";key.from", k.From}, {";key.user", k.User}, {";key.caller", k.Caller},
	} {
		if f.value != "" {
			dst = appendField(dst, f.name, f.value)
		}
	}
	if k.Source.IsValid() {
		dst = appendField(dst, ";key.source", k.Source.String())
	}
	return dst
}

// set takes a field, if it is one of the keys. Each may stand once.
func (k *Keys) set(name, value string) error {
	var text *string
	switch name {
	case "key.call":
		text = &k.CallID
	case "key.from":
		text = &k.From
	case "key.user":
		text = &k.User
	case "key.caller":
		text = &k.Caller
	case "key.source":
		addr, bad := netip.ParseAddr(value)
		if bad != nil || k.Source.IsValid() {
			return errField
		}
		k.Source = addr
		return nil
	default:
		return nil
	}
	if *text != "" {
		return errField
	}
	*text = value
	return nil
}
