package simulation

import "time"

// spans are the times at which something was not as it should be. The last one
// may still be open.
type spans []span

type span struct {
	from, to time.Duration // to is forever while it is open
}

const forever = time.Duration(1<<63 - 1)

func (s *spans) begin(now time.Duration) { *s = append(*s, span{now, forever}) }

func (s *spans) end(now time.Duration) {
	for i := range *s {
		if (*s)[i].to == forever {
			(*s)[i].to = now
			return
		}
	}
}

// calm tells whether nothing was wrong between two instants.
func (s spans) calm(from, to time.Duration) bool {
	for _, x := range s {
		if x.from <= to && x.to >= from {
			return false
		}
	}
	return true
}
