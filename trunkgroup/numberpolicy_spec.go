package trunkgroup

// NumberPolicySpec is one way to write numbers towards a carrier; see WritingPolicy. The
// formats that it does not name are those of Format, which is e164 by default.
type NumberPolicySpec struct {
	Name    string            `yaml:"name" json:"name"` // may have an @ inside: ims-e164@2026
	Format  Format            `yaml:"format,omitempty" json:"format,omitzero"`
	Headers NumberHeadersSpec `yaml:"headers,omitempty" json:"headers,omitzero"`
	// Numbering is how the carrier's country writes numbers.
	Numbering     PolicyNumberingSpec `yaml:"numbering,omitempty" json:"numbering,omitzero"`
	Preserve      []string            `yaml:"preserve,omitempty" json:"preserve,omitempty"`             // numbers that pass as they are: 911, 0800*
	OnUnparseable string              `yaml:"on_unparseable,omitempty" json:"on_unparseable,omitempty"` // keep or strip; default keep
	Diversion     DiversionSpec       `yaml:"diversion,omitempty" json:"diversion,omitzero"`
}

// NumberHeadersSpec is the format of each place that names a number.
type NumberHeadersSpec struct {
	RequestURI        Format `yaml:"request_uri,omitempty" json:"request_uri,omitzero"`
	From              Format `yaml:"from,omitempty" json:"from,omitzero"`
	To                Format `yaml:"to,omitempty" json:"to,omitzero"`
	PAssertedIdentity Format `yaml:"p_asserted_identity,omitempty" json:"p_asserted_identity,omitzero"`
	// PPreferredIdentity is what the caller would like to be asserted (RFC 3325 section 9.2).
	PPreferredIdentity Format `yaml:"p_preferred_identity,omitempty" json:"p_preferred_identity,omitzero"`
	RemotePartyID      Format `yaml:"remote_party_id,omitempty" json:"remote_party_id,omitzero"`
}

// DiversionSpec is what becomes of Diversion (RFC 5806).
type DiversionSpec struct {
	Format Format `yaml:"format,omitempty" json:"format,omitzero"`
	// RespectPrivacy keeps numbers from the carrier whose entry asks for it.
	RespectPrivacy bool `yaml:"respect_privacy,omitempty" json:"respect_privacy,omitempty"`
}

// PolicyNumberingSpec is how a country writes numbers. Country code 1 brings trunk prefix
// 1, international prefix 011 and 10 digits along, unless the document says otherwise.
type PolicyNumberingSpec struct {
	CountryCode         string `yaml:"country_code,omitempty" json:"country_code,omitempty"`
	TrunkPrefix         string `yaml:"trunk_prefix,omitempty" json:"trunk_prefix,omitempty"`
	InternationalPrefix string `yaml:"international_prefix,omitempty" json:"international_prefix,omitempty"`
	MinNationalDigits   int    `yaml:"min_national_digits,omitempty" json:"min_national_digits,omitempty"` // behind the trunk prefix; default 5
}
