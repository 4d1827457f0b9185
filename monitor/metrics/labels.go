package metrics

// Direction is the way of a call.
type Direction uint8

// The directions.
const (
	Inbound  Direction = iota // PSTN to customer
	Outbound                  // customer to PSTN
	directions
)

// String is the label.
func (d Direction) String() string {
	if d == Inbound {
		return "inbound"
	}
	return "outbound"
}

// ParseDirection reads a label; anything but "outbound" is inbound.
func ParseDirection(s string) Direction {
	if s == "outbound" {
		return Outbound
	}
	return Inbound
}

// Result is how a call ended.
type Result uint8

// The results.
const (
	Answered  Result = iota
	Busy             // 486, 600
	NoAnswer         // 408, 480 or 487 after it rang, or nobody answered in time
	Cancelled        // the caller gave up
	Rejected         // any other final of the far end
	Failed           // nobody could take it
	NoRoute          // nobody owns the number, or no route leads there
	results
)

var resultNames = [results]string{"answered", "busy", "no_answer", "cancelled", "rejected", "failed", "no_route"}

// String is the label.
func (r Result) String() string { return resultNames[r] }

// ResultOf tells how a call ended by the final that the caller got.
func ResultOf(answered, cancelled bool, code int) Result {
	switch {
	case answered:
		return Answered
	case cancelled:
		return Cancelled
	}
	switch code {
	case 486, 600:
		return Busy
	case 408, 480, 487:
		return NoAnswer
	case 404, 604:
		return NoRoute
	}
	if code >= 500 && code < 600 {
		return Failed
	}
	return Rejected
}

// Class is what came of one attempt.
type Class uint8

// The classes. NotDialed attempts are ours, never the carrier's: no INVITE was on the wire (CDR-05).
const (
	Class2xx Class = iota
	Class3xx
	Class4xx
	Class5xx
	Class6xx
	NoResponse
	TransportError
	Abandoned // the caller gave up, or another attempt won
	NotDialed
	classes
)

var classNames = [classes]string{"2xx", "3xx", "4xx", "5xx", "6xx", "no_response", "transport_error", "abandoned", "not_dialed"}

// String is the label.
func (c Class) String() string { return classNames[c] }

// ClassOf tells the class of a dialed attempt by its final response code.
func ClassOf(code int) Class {
	switch {
	case code < 200:
		return NoResponse
	case code < 300:
		return Class2xx
	case code < 400:
		return Class3xx
	case code < 500:
		return Class4xx
	case code < 600:
		return Class5xx
	}
	return Class6xx
}
