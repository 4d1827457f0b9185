//go:build !linux

package transport

import "errors"

// Sieve is there on Linux alone.
func (s *Set) Sieve(float64) error { return errors.ErrUnsupported }
