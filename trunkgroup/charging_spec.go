package trunkgroup

import "time"

// ChargingSpec says how calls of a customer are charged over Diameter (S-101, S-102).
// Emergency calls and operators' test calls never are.
type ChargingSpec struct {
	Online  bool `yaml:"online,omitempty" json:"online,omitempty"`   // credit is reserved before a call is dialled (Ro)
	Offline bool `yaml:"offline,omitempty" json:"offline,omitempty"` // calls are accounted for (Rf)
	// ContextID is the Service-Context-Id; default 32260@3gpp.org.
	ContextID         string   `yaml:"service_context_id,omitempty" json:"service_context_id,omitempty"`
	RatingGroup       int      `yaml:"rating_group,omitempty" json:"rating_group,omitempty"`             // 0: none is sent
	ServiceIdentifier int      `yaml:"service_identifier,omitempty" json:"service_identifier,omitempty"` // 0: none is sent
	Realm             string   `yaml:"realm,omitempty" json:"realm,omitempty"`                           // Destination-Realm; default that of the peer
	Requested         Duration `yaml:"requested,omitempty" json:"requested,omitempty"`                   // time that is asked for at once; default 30s
	// Interim is how often a call that is up is accounted for; default 5m, off. The server's own word wins.
	Interim    Duration        `yaml:"interim,omitempty" json:"interim,omitempty"`
	OnFailure  ChargingFailure `yaml:"on_failure,omitempty" json:"on_failure,omitzero"`     // when nobody answers; default retry
	DeniedCode int             `yaml:"denied_code,omitempty" json:"denied_code,omitempty"`  // to a caller without credit; default 402
	From       ChargeFrom      `yaml:"charge_from,omitempty" json:"charge_from,omitzero"`   // default answer
	Subscriber Subscriber      `yaml:"subscription,omitempty" json:"subscription,omitzero"` // whose account it is; default group
	Account    string          `yaml:"account,omitempty" json:"account,omitempty"`          // the account itself, in place of subscription
	Free       []string        `yaml:"free,omitempty" json:"free,omitempty"`                // prefixes of called numbers that are not charged, like "+1800*"
}

// Charging is a compiled ChargingSpec. It is part of a Table and never changes.
type Charging struct {
	Online, Offline                bool
	ContextID                      string
	RatingGroup, ServiceIdentifier uint32
	Realm                          string
	Requested                      time.Duration // whole seconds
	Interim                        time.Duration // 0: none
	OnFailure                      ChargingFailure
	DeniedCode                     int
	From                           ChargeFrom
	Subscriber                     Subscriber
	Account                        string

	free prefixIndex
}

const (
	defaultContextID       = "32260@3gpp.org"
	defaultRequested       = 30 * time.Second
	defaultChargingInterim = 5 * time.Minute
	defaultDeniedCode      = 402
)

// Free reports whether calls to a number, in E.164, are not charged.
func (c *Charging) Free(e164 string) bool {
	n, ok := pack([]byte(e164))
	if !ok {
		return false
	}
	length, _ := c.free.longest(n, nil)
	return length > 0
}

func compileCharging(s *ChargingSpec) *Charging {
	if s == nil || !s.Online && !s.Offline {
		return nil
	}
	c := &Charging{
		Online: s.Online, Offline: s.Offline, ContextID: s.ContextID, RatingGroup: uint32(s.RatingGroup), ServiceIdentifier: uint32(s.ServiceIdentifier),
		Realm: s.Realm, Requested: s.Requested.or(defaultRequested), Interim: s.Interim.or(defaultChargingInterim),
		OnFailure: s.OnFailure, DeniedCode: s.DeniedCode, From: s.From, Subscriber: s.Subscriber, Account: s.Account,
	}
	if c.ContextID == "" {
		c.ContextID = defaultContextID
	}
	if c.DeniedCode == 0 {
		c.DeniedCode = defaultDeniedCode
	}
	for i, p := range s.Free {
		if n, ok := routePrefix(p); ok {
			c.free.add(n, uint32(i))
		}
	}
	return c
}
