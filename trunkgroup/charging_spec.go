package trunkgroup

// ChargingSpec says how calls of a customer are charged (S-101, S-102).
type ChargingSpec struct {
	Online bool `yaml:"online,omitempty" json:"online,omitempty"` // credit is reserved before a call is dialled (Ro)
}
