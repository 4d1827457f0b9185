package metrics

// Fault is whose doing the end of an attempt was (D10).
type Fault uint8

// The faults.
const (
	// FaultNone: the attempt was answered.
	FaultNone Fault = iota
	// FaultCallee: busy, refused, or nobody picked up.
	FaultCallee
	// FaultNumber: what was dialled does not exist, or not like that.
	FaultNumber
	// FaultOurs: it was not dialled, what we sent was not understood, or the time of the call was over.
	FaultOurs
	// FaultCarrier: silence, failure or refusal of the far end.
	FaultCarrier
	// FaultCaller: the caller gave up, or another attempt was answered first.
	FaultCaller
	faults
)

var faultNames = [faults]string{"none", "callee", "number", "ours", "carrier", "caller"}

// String is the label.
func (f Fault) String() string { return faultNames[f] }

var descFaults = desc("route_attempt_faults_total", "B-leg attempts that ended, by whose doing it was.", "trunk_group", "member", "site", "fault")
