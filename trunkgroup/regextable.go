package trunkgroup

// numberExpression is an expression of a document, and whose numbers it covers.
type numberExpression struct {
	*Expression
	group *Group
}

func (x *numberExpression) match() NumberMatch {
	return NumberMatch{Group: x.group, Expression: x.text}
}

// compileExpressions returns the expressions of all groups in document order,
// which is the order in which they are asked. Validate has read them before.
func (t *Table) compileExpressions() []numberExpression {
	var all []numberExpression
	for i := range t.document.TrunkGroups {
		for _, text := range t.document.TrunkGroups[i].Numbers {
			if !isExpression(text) {
				continue
			}
			if x, err := ParseExpression(text); err == nil {
				all = append(all, numberExpression{x, t.groups[i]})
			}
		}
	}
	return all
}

// expressions checks the regular expressions among the called numbers. They may
// overlap: the first in the document wins. The same one twice has no sense.
func (v *validator) expressions() {
	seen := make(map[string]string)
	for i := range v.document.TrunkGroups {
		for j, text := range v.document.TrunkGroups[i].Numbers {
			if !isExpression(text) {
				continue
			}
			path := index(index("trunk_groups", i)+".numbers", j)
			if len(seen) == maxExpressions {
				v.faults.addf(path, expressionManyRemedy, "there are more than %d regular expressions", maxExpressions)
				return
			}
			if at, ok := seen[text]; ok {
				v.faults.addf(path, "keep the number in one group", "%.60s is the same as %s", text, at)
				continue
			}
			seen[text] = path
			if _, err := ParseExpression(text); err != nil {
				v.faults.addf(path, expressionExample, "%.60q %s", text, err)
			}
		}
	}
}
