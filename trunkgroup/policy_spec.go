package trunkgroup

// PolicySpec filters and orders routes, and says what happens when all have failed.
type PolicySpec struct {
	Keep string `yaml:"keep,omitempty" json:"keep,omitempty"` // which routes stay
}
