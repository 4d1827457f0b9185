package trunkgroup

// EmergencyNumber reports whether a number, in the form that the numbering policy
// gave it, is one that no limit applies to (DEC-17).
func EmergencyNumber(number []byte) bool {
	switch string(number) {
	case "911", "112", "999", "000":
		return true
	}
	return false
}
