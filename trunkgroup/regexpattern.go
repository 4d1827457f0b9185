package trunkgroup

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
)

// Bounds of regular expressions. A number that nobody owns by a pattern is
// compared with each expression, so there are few of them, and each is small.
const (
	maxExpressions       = 100  // of a document
	maxExpressionLength  = 200  // octets
	maxExpressionSize    = 1000 // instructions
	maxExpressionStates  = 300
	expressionMark       = "/"
	expressionExample    = `write it like "/^\\+1800[0-9]{7}$/"`
	expressionManyRemedy = "write the numbers as prefixes and ranges, or put them into the number table"
)

// Expression is a regular expression over whole numbers, in the syntax of RE2:
// no back references, and a match takes one step for each digit. The zero value
// matches nothing.
type Expression struct {
	text   string
	states []expressionState
}

// isExpression tells an expression from a pattern.
func isExpression(s string) bool { return strings.HasPrefix(s, expressionMark) }

// ParseExpression reads an expression between slashes, like
// "/^\+1800[0-9]{7}$/". It must say what the whole number is, from ^ to $: what
// it covers shall not depend on how it is applied. The number that it sees is
// E.164 with its +.
func ParseExpression(s string) (*Expression, error) {
	body, ok := strings.CutPrefix(s, expressionMark)
	if ok {
		body, ok = strings.CutSuffix(body, expressionMark)
	}
	switch {
	case !ok:
		return nil, errors.New("does not stand between slashes")
	case len(s) > maxExpressionLength:
		return nil, fmt.Errorf("is longer than %d characters", maxExpressionLength)
	}
	tree, err := syntax.Parse(body, syntax.Perl)
	if fault := (*syntax.Error)(nil); errors.As(err, &fault) {
		return nil, fmt.Errorf("is no regular expression: %s in %s", fault.Code, fault.Expr)
	} else if err != nil {
		return nil, fmt.Errorf("is no regular expression: %w", err)
	}
	if last := len(tree.Sub) - 1; tree.Op != syntax.OpConcat || tree.Sub[0].Op != syntax.OpBeginText || tree.Sub[last].Op != syntax.OpEndText {
		return nil, errors.New("does not say the whole number, from ^ to $")
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("is no regular expression: %w", err)
	}
	states, err := expressionStates(program)
	if err != nil {
		return nil, err
	}
	if !canMatch(states) {
		return nil, errors.New("matches no number that begins with +")
	}
	return &Expression{s, states}, nil
}

// String returns the expression as ParseExpression reads it.
func (x *Expression) String() string { return x.text }

// Matches reports whether the expression matches a number, which begins with +
// when it is an E.164 number. It does not allocate.
func (x *Expression) Matches(user []byte) bool {
	if len(x.states) == 0 {
		return false
	}
	state := uint16(expressionStart)
	for _, c := range user {
		switch {
		case c == '+':
			state = x.states[state].next[symbolPlus]
		case c >= '0' && c <= '9':
			state = x.states[state].next[c-'0']
		default:
			return false
		}
		if state == expressionDead {
			return false
		}
	}
	return x.states[state].accepts
}
