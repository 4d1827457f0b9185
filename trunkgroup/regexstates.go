package trunkgroup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
)

// expressionState is a state of a deterministic automaton over + and digits.
type expressionState struct {
	next    [11]uint16
	accepts bool // when the number ends here
}

const (
	symbolPlus      = 10 // behind the digits
	expressionDead  = 0  // no number that begins so matches
	expressionStart = 1
)

// automaton makes states of sets of instructions (Rabin and Scott's subsets;
// Aho, Sethi, Ullman, Compilers, algorithm 3.2).
type automaton struct {
	program *syntax.Prog
	states  []expressionState
	sets    [][]uint32 // of the states: instructions that may come next
	known   map[string]uint16
}

// expressionStates makes the automaton of a program.
func expressionStates(program *syntax.Prog) ([]expressionState, error) {
	if len(program.Inst) > maxExpressionSize {
		return nil, fmt.Errorf("is too complex: it takes %d instructions of at most %d", len(program.Inst), maxExpressionSize)
	}
	for _, i := range program.Inst {
		if i.Op == syntax.InstEmptyWidth && syntax.EmptyOp(i.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
			return nil, errors.New(`asks for the border of a word with \b or \B, which means nothing in a number`)
		}
	}
	a := &automaton{program: program, known: make(map[string]uint16)}
	a.state(nil, 0)
	const begin = syntax.EmptyBeginText | syntax.EmptyBeginLine
	a.state(a.close([]uint32{uint32(program.Start)}, begin), begin)
	for i := expressionStart; i < len(a.states); i++ {
		for symbol := range a.states[i].next {
			r := '0' + rune(symbol)
			if symbol == symbolPlus {
				r = '+'
			}
			next := a.state(a.close(a.step(a.sets[i], r), 0), 0) // which may move the states
			a.states[i].next[symbol] = next
		}
		if len(a.states) > maxExpressionStates {
			return nil, fmt.Errorf("is too complex: it takes more than %d states", maxExpressionStates)
		}
	}
	return a.states, nil
}

// state returns the state of a set, a new one when there is none yet.
func (a *automaton) state(set []uint32, at syntax.EmptyOp) uint16 {
	key := []byte{byte(at)}
	for _, pc := range set {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	if s, ok := a.known[string(key)]; ok {
		return s
	}
	s := uint16(len(a.states))
	a.known[string(key)] = s
	end := a.close(set, at|syntax.EmptyEndText|syntax.EmptyEndLine)
	accepts := slices.ContainsFunc(end, func(pc uint32) bool { return a.program.Inst[pc].Op == syntax.InstMatch })
	a.states = append(a.states, expressionState{accepts: accepts})
	a.sets = append(a.sets, set)
	return s
}

// step returns what comes behind one character.
func (a *automaton) step(set []uint32, r rune) []uint32 {
	var next []uint32
	for _, pc := range set {
		i := &a.program.Inst[pc]
		switch i.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if i.MatchRune(r) {
				next = append(next, i.Out)
			}
		}
	}
	return next
}

// close adds all instructions that are reached without a character, where
// assertions of a place hold. Assertions that do not hold stay in the set: they
// may hold at the end.
func (a *automaton) close(set []uint32, at syntax.EmptyOp) []uint32 {
	seen := make([]bool, len(a.program.Inst))
	var all []uint32
	work := slices.Clone(set)
	for len(work) > 0 {
		pc := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		all = append(all, pc)
		switch i := &a.program.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			work = append(work, i.Out, i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			work = append(work, i.Out)
		case syntax.InstEmptyWidth:
			if want := syntax.EmptyOp(i.Arg); want&^at == 0 {
				work = append(work, i.Out)
			}
		}
	}
	slices.Sort(all)
	return all
}

// canMatch tells whether a number that begins with + can match.
func canMatch(states []expressionState) bool {
	seen := make([]bool, len(states))
	seen[expressionDead] = true
	work := []uint16{states[expressionStart].next[symbolPlus]}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[s] {
			continue
		}
		seen[s] = true
		for _, next := range states[s].next[:symbolPlus] {
			if states[next].accepts {
				return true
			}
			work = append(work, next)
		}
	}
	return false
}
