package charging

import "time"

// Will is what is to be told of a call whose node dies: it is kept on disk while the call is up.
type Will struct {
	Before *Request  // is out, and may not have arrived
	Last   Request   // ends the session
	From   time.Time // since when the call is charged; zero: it is not yet
	Told   int64     // seconds that were reported, those of Before included
}

// Execute returns what is to be told, in order, when the node was last alive at end.
func (w *Will) Execute(end time.Time) []Request {
	if end.Before(w.Last.At) {
		end = w.Last.At
	}
	var list []Request
	if w.Before != nil {
		r := *w.Before
		r.Repeated = true
		list = append(list, r)
	}
	r := w.Last
	r.At, r.Call.Ended, r.Call.Why = end, end, Fault
	r.Used = max(Seconds(w.From, end)-w.Told, 0)
	return append(list, r)
}
