package sim

import (
	"time"

	"github.com/tandem-sbc/tandem/sbc/transport"
)

// Failed takes the news that a message could not be sent. A far end goes on as
// on a lossy wire: what must arrive is repeated, what never does is a fault then.
func (c *Callee) Failed(time.Time, uint64, error) {}

// Closed takes the news that a stream is gone; later messages open a new one.
func (c *Callee) Closed(time.Time, transport.Flow) {}
