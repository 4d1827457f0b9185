package trunkgroup

// CarrierQualitySpec leaves carriers out of a plan whose calls do badly.
type CarrierQualitySpec struct {
	MinASR int `yaml:"min_asr,omitempty" json:"min_asr,omitempty"` // percent of attempts that must be answered
}
