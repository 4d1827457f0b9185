package cdrlog

import (
	"sync/atomic"

	"github.com/tandem-sbc/tandem/internal/pushlist"
)

// Record is what the log needs of a call detail record. The log owns a record from Write on: nobody may change it any more.
type Record interface {
	// AppendJSON appends the record as one JSON object without line breaks.
	AppendJSON(dst []byte) ([]byte, error)
}

// queue is the records that were accepted and wait for the writer.
type queue struct {
	pushlist.List[Record]
	size atomic.Int64 // with those that the writer has taken and not written
}
