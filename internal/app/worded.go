package app

import (
	"fmt"
	"strings"
)

// wordedError is an error as an operator reads it: without the names of the packages that it came
// through, which say something to who reads this code alone.
type wordedError struct{ err error }

// Error implements error.
func (e *wordedError) Error() string {
	text := e.err.Error()
	for {
		short := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "cluster: "), "fsm: "), "join: ")
		if short == text {
			return text
		}
		text = short
	}
}

// Unwrap returns the error as it was.
func (e *wordedError) Unwrap() error { return e.err }

// as puts an error into a class of the admin API, such as admin.ErrRefused.
func as(class, err error) error { return fmt.Errorf("%w: %w", class, &wordedError{err}) }
