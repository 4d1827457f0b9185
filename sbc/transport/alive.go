package transport

// Alive reports that a connection has not ended. Once it is false, Closed has
// been called or will be.
func (s *Set) Alive(f Flow) bool {
	_, ok := s.streams.flows.Load(f)
	return ok
}
