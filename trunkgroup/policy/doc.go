// Package policy holds the rules that an operator writes about routes and failures, as expressions: which
// routes stay, in which order they are tried, what the record of a call says of the one that answered, and
// when a call whose routes have all failed goes on (S-014, S-015, S-045).
//
//	CompileFilter, CompileOrder,      read an expression, check its types and its bounds; an Error says
//	CompileField, CompileCondition    what is wrong, and in which column
//	Machine                           evaluates, for one goroutine
//	Call, Route, Attempt, Failure     what expressions can name; webhooks tell the same in JSON (Event)
//
// An expression is a function of what it is given: it reads no clock and changes nothing. It is bounded by
// its form, so that no evaluation needs to be interrupted: at most MaxText bytes and maxNodes nodes, no
// variables, no ranges, patterns only as literals, no function that makes lists or long texts, and one loop
// (any, all, none, one, count) over the attempts of a call, never a loop in a loop. What goes wrong all the
// same, like a remainder by zero, is an error of the evaluation; whoever asked goes on as without the rule.
//
// The language is expr-lang's; this package is the only one that knows it. Begin reading at compile.go.
package policy
