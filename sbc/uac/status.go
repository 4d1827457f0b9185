package uac

import "time"

// State is where a registration stands.
type State uint8

// The states.
const (
	// Idle: nothing was sent yet. Left by the first REGISTER.
	Idle State = iota
	// Trying: the first REGISTER is out. Left by its outcome.
	Trying
	// Registered: the registrar holds our contact, as far as we know. Left when its
	// time is over without a refresh, when the registrar refuses, or by Stop.
	Registered
	// Failed: the registrar does not hold our contact. Tried again, with growing
	// pauses; left by a success or by Stop.
	Failed
	// Removing: our contact is being taken out. Left by an answer, or after some
	// tries.
	Removing
	// Removed: the end.
	Removed
)

// String returns the state as the API and the CLI show it.
func (s State) String() string {
	return [...]string{"idle", "trying", "registered", "failed", "removing", "removed"}[s]
}

// Status is what people see of a registration.
type Status struct {
	State State
	Since time.Time // of State; zero while Idle
	// Reason says why the registrar does not hold the contact or, while it still does,
	// why the last refresh failed.
	Reason string
	// Code is the status code behind Reason; 0 for none.
	Code int
	// Until is when what the registrar holds ends; zero when it holds nothing.
	Until time.Time
	// Next is when the next REGISTER goes out; zero while one is on its way.
	Next     time.Time
	Failures int // in a row
	Contact  string
}

// Alarming tells whether somebody should be told: the registration has lapsed, was
// refused for what only people can change, or was tried in vain several times.
func (s *Status) Alarming() bool {
	return s.State == Failed && (s.Failures >= alarmAfter || s.refused())
}

// refused tells whether the registrar said no to the account itself.
func (s *Status) refused() bool {
	switch s.Code {
	case 401, 403, 404, 407:
		return true
	}
	return false
}

// alarmAfter is how many failures in a row are no passing thing.
const alarmAfter = 3
