package policy

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// bounded refuses what would make the work of an expression grow faster than its length.
func bounded(tree *parser.Tree) error {
	b := bounder{source: tree.Source}
	ast.Walk(&tree.Node, &b)
	if b.err != nil {
		return b.err
	}
	return nil
}

// bounder looks at each node of an expression, the inner ones first.
type bounder struct {
	source file.Source
	steps  int    // of all patterns
	err    *Error // the first
}

// Visit implements ast.Visitor.
func (b *bounder) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		b.operator(n)
	case *ast.BuiltinNode:
		switch {
		case !slices.Contains(functions[:], n.Name):
			b.refuse(n, "there is no function %s here; there are %s", n.Name, strings.Join(functions[:], ", "))
		case loops(n) && loopsWithin(n):
			b.refuse(n, "%s stands around another loop: one is all that an expression may have at a time", n.Name)
		}
	case *ast.VariableDeclaratorNode:
		b.refuse(n, "variables are not known here: write the value where it is used")
	case *ast.SequenceNode:
		b.refuse(n, "it is more than one expression")
	case *ast.MapNode:
		b.refuse(n, "maps are not known here")
	}
}

func (b *bounder) operator(n *ast.BinaryNode) {
	switch n.Operator {
	case "..":
		b.refuse(n, "ranges are not known here: compare with both ends")
	case "matches":
		pattern, ok := n.Right.(*ast.StringNode)
		if !ok {
			b.refuse(n, "the pattern behind matches must be written out")
			return
		}
		if b.steps += steps(pattern.Value); b.steps > maxSteps {
			b.refuse(n, "its patterns are too large: they take %d steps for one character, more than %d", b.steps, maxSteps)
		}
	}
}

// steps returns how many a pattern takes for one character of a text at most; short ones can take many:
// (x{30}){30}. What is no pattern the library refuses.
func steps(pattern string) int {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	compiled, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0
	}
	return len(compiled.Inst)
}

func (b *bounder) refuse(n ast.Node, format string, args ...any) {
	if b.err != nil {
		return
	}
	at := &file.Error{Location: n.Location(), Message: fmt.Sprintf(format, args...)}
	b.err = worded(at.Bind(b.source))
}

// loops tells whether a function goes over a list with a predicate.
func loops(n *ast.BuiltinNode) bool {
	for _, arg := range n.Arguments {
		if _, ok := arg.(*ast.PredicateNode); ok {
			return true
		}
	}
	return false
}

// loopsWithin tells whether there is a loop in what a function is given.
func loopsWithin(n *ast.BuiltinNode) bool {
	f := &loopFinder{}
	for i := range n.Arguments {
		ast.Walk(&n.Arguments[i], f)
	}
	return f.found
}

// loopFinder looks for a loop.
type loopFinder struct{ found bool }

// Visit implements ast.Visitor.
func (f *loopFinder) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.BuiltinNode); ok && loops(n) {
		f.found = true
	}
}
