package fsm

import (
	"errors"

	"github.com/tandem-sbc/tandem/internal/octets"
)

// ErrMalformed is returned for octets that are no encoding of what was asked for.
var ErrMalformed = errors.New("fsm: malformed encoding")

// reader takes fields off an encoding. It is strict: all nodes must have the same octets
// for the same state.
type reader struct{ octets.Reader }

func read(b []byte) reader { return reader{octets.ReadStrict(b)} }
