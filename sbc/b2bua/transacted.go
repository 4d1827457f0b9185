package b2bua

import "time"

// requestDone counts a transaction of a request of ours that has its final response.
func (s *Shard) requestDone(method string, began time.Time) {
	s.env.Count(Event{Kind: EventTransaction, Result: "client", Method: method, Wait: s.now.Sub(began)})
}

// answerDone counts a transaction of a request that others sent, which gets its final response now. What is
// refused at once keeps no transaction and is not counted.
func (s *Shard) answerDone(in *incoming) {
	s.env.Count(Event{Kind: EventTransaction, Result: "server", Method: in.msg.Method(), Wait: s.now.Sub(in.began)})
}
