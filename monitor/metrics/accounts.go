package metrics

// Account is a registration at a carrier that this node keeps.
type Account struct {
	Member     string // group/member
	Registered bool
	Failures   int // REGISTERs in a row that failed
}

var (
	descAccountUp       = desc("account_registered", "1 while the carrier's registrar holds the contact that this node keeps there.", "member")
	descAccountFailures = desc("account_failures", "REGISTERs in a row that failed.", "member")
)

// accounts shows the registrations.
func (p page) accounts(list []Account) {
	for _, a := range list {
		p.flag(descAccountUp, a.Registered, a.Member)
		p.gauge(descAccountFailures, float64(a.Failures), a.Member)
	}
}

// accountKey names a counter of what accounts met.
type accountKey struct{ group, result string }

// AccountEvent counts what became of a carrier's challenge, or of a call to our
// registration. result is one of a fixed set of words.
func (m *Metrics) AccountEvent(group, result string) { m.rare.accounts.add(accountKey{group, result}) }
