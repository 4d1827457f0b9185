package trunkgroup

// maxAOR bounds what is looked up as an address of record, in octets.
const maxAOR = 256

// CalledMember returns the member that a customer's call reaches by its address
// of record, sip:user@host with the host in any case: one of the customer's own
// groups, for an AOR is no door to somebody else's PBX. An emergency
// number is a number, whoever may have registered as its user. It returns nil
// when there is no such member, and does not allocate.
func (t *Table) CalledMember(customer *Group, user, host []byte) *Member {
	if customer == nil || len(t.aors) == 0 || EmergencyNumber(user) || len(user) == 0 || len(user)+len(host) > maxAOR {
		return nil
	}
	var buf [maxAOR + 8]byte
	aor := append(append(append(buf[:0], "sip:"...), user...), '@')
	for _, c := range host {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		aor = append(aor, c)
	}
	m := t.aors[string(aor)]
	if m == nil || !ownGroups(m.Group, customer) {
		return nil
	}
	return m
}

// MayCallOut tells whether callers known by this group may reach the PSTN. The
// digest users of an origination-customer group stand for PBXs that register:
// they reach addresses of record of their customer, and nothing else (P-29).
func (g *Group) MayCallOut() bool { return g.Role == TerminationCustomer }
