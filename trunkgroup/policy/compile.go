package policy

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// MaxText is the length of an expression, in bytes.
const MaxText = 2000

// Bounds of an expression's form.
const (
	maxNodes = 100
	maxSteps = 100 // of all its patterns together, for one character
)

// functions are the functions that expressions may use. None of them makes a list, or a text longer than
// what it is given.
var functions = [...]string{
	"len", "lower", "upper", "trim", "trimPrefix", "trimSuffix", "indexOf", "abs", "ceil", "floor", "round", "min", "max",
	"int", "float", "string", "any", "all", "none", "one", "count",
}

// Error says what is wrong with an expression.
type Error struct {
	Line, Column int // from 1; 0 = unknown
	Problem      string
}

// Error returns "column 7: what is wrong", with the line where there are several.
func (e *Error) Error() string {
	switch {
	case e.Column == 0:
		return e.Problem
	case e.Line > 1:
		return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Problem)
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Problem)
}

// rule is a compiled expression. It never changes: goroutines share it.
type rule struct {
	text    string
	program *vm.Program
}

// String returns the expression as it was written.
func (r *rule) String() string { return r.text }

// Filter says whether a route stays.
type Filter struct{ rule }

// Order gives the number that routes are ordered by, the lowest first.
type Order struct{ rule }

// Field gives the text of a field of the record.
type Field struct{ rule }

// Condition says whether a rule for failures holds.
type Condition struct{ rule }

// CompileFilter reads an expression over call and route that is true or false. The error is an *Error, like
// that of all that compile.
func CompileFilter(text string) (*Filter, error) {
	r, err := compile(text, routeNames{}, expr.AsBool(), expr.WarnOnAny())
	if err != nil {
		return nil, err
	}
	return &Filter{*r}, nil
}

// CompileOrder reads an expression over call and route that is a number.
func CompileOrder(text string) (*Order, error) {
	r, err := compile(text, routeNames{}, expr.AsFloat64(), expr.WarnOnAny())
	if err != nil {
		return nil, err
	}
	return &Order{*r}, nil
}

// CompileField reads an expression over call, route and attempts that is a text, a number, or true or false.
func CompileField(text string) (*Field, error) {
	r, err := compile(text, answerNames{})
	if err != nil {
		return nil, err
	}
	switch typ := r.program.Node().Type(); {
	case typ == nil:
		return nil, &Error{Problem: "it has no value"}
	case typ.String() == "string" || typ.String() == "int" || typ.String() == "float64" || typ.String() == "bool":
		return &Field{*r}, nil
	}
	return nil, &Error{Problem: "it is neither a text nor a number, nor true or false in every case"}
}

// CompileCondition reads an expression over call, failure and attempts that is true or false.
func CompileCondition(text string) (*Condition, error) {
	r, err := compile(text, failureNames{}, expr.AsBool(), expr.WarnOnAny())
	if err != nil {
		return nil, err
	}
	return &Condition{*r}, nil
}

// compile reads an expression. A fault of the library counts as one of the expression: documents are read on
// every node, and none of them may end by one.
func compile(text string, names any, as ...expr.Option) (r *rule, err error) {
	if len(text) > MaxText {
		return nil, &Error{Problem: fmt.Sprintf("it has %d bytes, more than %d", len(text), MaxText)}
	}
	defer func() {
		if cause := recover(); cause != nil {
			r, err = nil, &Error{Problem: fmt.Sprintf("it cannot be compiled: %v", cause)}
		}
	}()
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, worded(err)
	}
	if err := bounded(tree); err != nil {
		return nil, err
	}
	options := append([]expr.Option{expr.Env(names), expr.MaxNodes(maxNodes), expr.DisableAllBuiltins()}, as...)
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		return nil, worded(err)
	}
	return &rule{text: text, program: program}, nil
}

// worded takes the place and the words of the library's error, without its drawing of the text.
func worded(err error) *Error {
	var at *file.Error
	if errors.As(err, &at) && at.Line > 0 {
		return &Error{Line: at.Line, Column: at.Column + 1, Problem: at.Message}
	}
	if at != nil {
		return &Error{Problem: at.Message}
	}
	return &Error{Problem: err.Error()}
}
