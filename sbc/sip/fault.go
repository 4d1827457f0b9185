package sip

// Fault is the gate's verdict on a message that must not be processed.
type Fault struct {
	Code    int      // answer with this status: 400, 416, 501, 505, 513; 0 = be silent
	Reason  string   // reason phrase that names the defect; constant text, never the sender's bytes
	Message *Message // what was understood, enough for AppendResponse; nil when Code is 0
	Close   bool     // the stream must close behind the answer, since its framing cannot be trusted
}

// Error makes a Fault usable as an error.
func (f *Fault) Error() string { return "sip: " + f.Reason }
