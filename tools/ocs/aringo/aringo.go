// Package aringo stands in for the Asterisk client that CGRateS imports, whose version
// there the module proxy does not have. The tests run no Asterisk: nothing connects.
package aringo

import (
	"errors"
	"time"
)

// The methods by which CGRateS calls Asterisk.
const (
	HTTP_GET    = "GET"    //nolint:revive,staticcheck // the name that CGRateS uses
	HTTP_POST   = "POST"   //nolint:revive,staticcheck // the same
	HTTP_PUT    = "PUT"    //nolint:revive,staticcheck // the same
	HTTP_DELETE = "DELETE" //nolint:revive,staticcheck // the same
)

var errNone = errors.New("this build has no Asterisk client")

// RESTResponse is what Asterisk answers.
type RESTResponse struct{ MessageBody string }

// ARInGO is a connection to Asterisk.
type ARInGO struct{}

// Delays gives the pauses between two tries to connect.
type Delays = func(unit, longest time.Duration) func() time.Duration

// Call fails.
func (*ARInGO) Call(_, _ string, _ map[string]string, _ []byte) (RESTResponse, error) {
	return RESTResponse{}, errNone
}

// NewARInGO fails.
func NewARInGO(_, _, _, _, _ string, _ chan map[string]any, _ chan error, _ chan struct{}, _, _ int, _ time.Duration, _ Delays) (*ARInGO, error) {
	return nil, errNone
}

// NewARInGOV1 fails.
func NewARInGOV1(_, _, _, _, _, _ string, _ chan map[string]any, _ chan error, _ chan struct{}, _, _ int, _ time.Duration, _ Delays) (*ARInGO, error) {
	return nil, errNone
}
