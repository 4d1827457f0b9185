package policy

import (
	"errors"
	"math"
	"strconv"

	"github.com/expr-lang/expr/vm"
)

// memoryBudget bounds what one evaluation may make lists of, in the machine's own unit: elements.
const memoryBudget = 10_000

// errNotANumber is an order that says nothing.
var errNotANumber = errors.New("the result is not a number")

// Machine evaluates expressions. It belongs to one goroutine; the zero value is ready.
type Machine struct {
	vm      vm.VM
	route   routeNames
	answer  answerNames
	failure failureNames
}

// Keep tells whether a route stays.
func (m *Machine) Keep(f *Filter, call *Call, route *Route) (bool, error) {
	m.route = routeNames{Call: call, Route: route}
	out, err := m.run(&f.rule, &m.route)
	if err != nil {
		return false, err
	}
	yes, _ := out.(bool)
	return yes, nil
}

// Key returns the number that a route is ordered by. It is never NaN.
func (m *Machine) Key(o *Order, call *Call, route *Route) (float64, error) {
	m.route = routeNames{Call: call, Route: route}
	out, err := m.run(&o.rule, &m.route)
	if err != nil {
		return 0, err
	}
	key, ok := out.(float64)
	if !ok || math.IsNaN(key) {
		return 0, errNotANumber
	}
	return key, nil
}

// Text returns the text of a field.
func (m *Machine) Text(f *Field, call *Call, route *Route, attempts []Attempt) (string, error) {
	m.answer = answerNames{Call: call, Route: route, Attempts: last(attempts)}
	out, err := m.run(&f.rule, &m.answer)
	if err != nil {
		return "", err
	}
	switch v := out.(type) {
	case string:
		return v, nil
	case int:
		return strconv.Itoa(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	return "", errors.New("the result is no value")
}

// Holds tells whether a rule for failures holds.
func (m *Machine) Holds(c *Condition, call *Call, failure *Failure, attempts []Attempt) (bool, error) {
	m.failure = failureNames{Call: call, Failure: failure, Attempts: last(attempts)}
	out, err := m.run(&c.rule, &m.failure)
	if err != nil {
		return false, err
	}
	yes, _ := out.(bool)
	return yes, nil
}

func (m *Machine) run(r *rule, names any) (any, error) {
	m.vm.MemoryBudget = memoryBudget
	out, err := m.vm.Run(r.program, names)
	m.route, m.answer, m.failure = routeNames{}, answerNames{}, failureNames{}
	if err != nil {
		return nil, worded(err)
	}
	return out, nil
}

// last leaves so many attempts that a loop over them is bounded.
func last(attempts []Attempt) []Attempt {
	return attempts[max(0, len(attempts)-MaxAttempts):]
}
