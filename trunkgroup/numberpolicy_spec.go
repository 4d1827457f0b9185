package trunkgroup

// NumberPolicySpec is one way to write numbers towards a carrier.
type NumberPolicySpec struct {
	Name   string `yaml:"name" json:"name"`
	Format Format `yaml:"format,omitempty" json:"format,omitzero"`
}
