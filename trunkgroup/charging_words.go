package trunkgroup

import "fmt"

// ChargingFailure is what happens to a call whose charging server does not answer
// (Credit-Control-Failure-Handling, RFC 8506 8.14). What the server says of it wins.
type ChargingFailure uint8

// The ways.
const (
	ChargingRetry     ChargingFailure = iota // ask another server, then end the call
	ChargingTerminate                        // end the call
	ChargingContinue                         // the call goes on
)

// ChargingFailureNames lists them as a document names them.
func ChargingFailureNames() []string { return []string{"retry", "terminate", "continue"} }

// String returns the name as it stands in YAML.
func (f ChargingFailure) String() string { return wordOf(ChargingFailureNames(), uint8(f)) }

// MarshalText writes the name.
func (f ChargingFailure) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the name; empty text means retry.
func (f *ChargingFailure) UnmarshalText(b []byte) error {
	n, err := readWord(ChargingFailureNames(), b)
	*f = ChargingFailure(n)
	return err
}

// ChargeFrom is the instant from which a call's time is charged.
type ChargeFrom uint8

// The instants.
const (
	FromAnswer ChargeFrom = iota
	FromInvite
)

// ChargeFromNames lists them as a document names them.
func ChargeFromNames() []string { return []string{"answer", "invite"} }

// String returns the name as it stands in YAML.
func (f ChargeFrom) String() string { return wordOf(ChargeFromNames(), uint8(f)) }

// MarshalText writes the name.
func (f ChargeFrom) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads the name; empty text means answer.
func (f *ChargeFrom) UnmarshalText(b []byte) error {
	n, err := readWord(ChargeFromNames(), b)
	*f = ChargeFrom(n)
	return err
}

// Subscriber says whose account pays for a call.
type Subscriber uint8

// The subscribers.
const (
	SubscriberGroup    Subscriber = iota // the customer's trunk group, by name
	SubscriberCustomer                   // the customer of the group; the group where it names none
	SubscriberCaller                     // the caller's number
	SubscriberUser                       // the digest user; the group where there is none
)

// SubscriberNames lists them as a document names them.
func SubscriberNames() []string { return []string{"group", "customer", "caller", "user"} }

// String returns the name as it stands in YAML.
func (s Subscriber) String() string { return wordOf(SubscriberNames(), uint8(s)) }

// MarshalText writes the name.
func (s Subscriber) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name; empty text means group.
func (s *Subscriber) UnmarshalText(b []byte) error {
	n, err := readWord(SubscriberNames(), b)
	*s = Subscriber(n)
	return err
}

func wordOf(words []string, n uint8) string {
	if int(n) < len(words) {
		return words[n]
	}
	return ""
}

// readWord finds a word among those that are allowed; none stands for the first.
func readWord(words []string, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for i, w := range words {
		if w == string(b) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%q is none of %q", b, words)
}
