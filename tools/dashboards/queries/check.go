package queries

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// grafana are the variables that Grafana puts in place of a duration.
var grafana = strings.NewReplacer("$__rate_interval", "5m", "$__interval", "1m", "$__range", "1h")

// Check parses an expression and returns the labels of what it gives. The error says which series, label or function is
// not there.
func (c *Catalogue) Check(expr string) (labelSet, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(grafana.Replace(expr))
	if err != nil {
		return nil, fmt.Errorf("%q: %w", expr, err)
	}
	found, err := c.labelsOf(e)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", expr, err)
	}
	return found, nil
}

var (
	template = regexp.MustCompile(`\$labels\.([a-z_]+)`)
	legend   = regexp.MustCompile(`{{\s*([a-z_]+)\s*}}`)
)

// CheckText tells whether the labels that a text of an alert, or a legend, puts in are there.
func CheckText(text string, have labelSet) error {
	for _, form := range []*regexp.Regexp{template, legend} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if !have[m[1]] && m[1] != "end" && m[1] != "else" {
				return fmt.Errorf("%q: no label %s, there are: %s", text, m[1], have)
			}
		}
	}
	return nil
}

// labelsOf follows an expression from its series upwards.
func (c *Catalogue) labelsOf(e parser.Expr) (labelSet, error) {
	switch e := e.(type) {
	case *parser.VectorSelector:
		return c.selector(e)
	case *parser.MatrixSelector:
		return c.labelsOf(e.VectorSelector)
	case *parser.SubqueryExpr:
		return c.labelsOf(e.Expr)
	case *parser.ParenExpr:
		return c.labelsOf(e.Expr)
	case *parser.UnaryExpr:
		return c.labelsOf(e.Expr)
	case *parser.StepInvariantExpr:
		return c.labelsOf(e.Expr)
	case *parser.AggregateExpr:
		return c.aggregate(e)
	case *parser.BinaryExpr:
		return c.binary(e)
	case *parser.Call:
		return c.call(e)
	case *parser.NumberLiteral, *parser.StringLiteral:
		return labelSet{}, nil
	}
	return nil, fmt.Errorf("an expression of a kind that nobody has thought of: %T", e)
}

func (c *Catalogue) selector(e *parser.VectorSelector) (labelSet, error) {
	if e.Name == "ALERTS" { // it has the labels of all alerts
		return setOf(targetLabels...).with("alertname", "alertstate", "severity", "trunk_group", "member", "peer_site", "peer"), nil
	}
	have, ok := c.series[e.Name]
	if !ok {
		return nil, fmt.Errorf("no node tells of %q, and no recording rule makes it", e.Name)
	}
	for _, m := range e.LabelMatchers {
		if m.Name != model.MetricNameLabel && !have[m.Name] {
			return nil, fmt.Errorf("%s has no label %s, it has: %s", e.Name, m.Name, have)
		}
	}
	return have, nil
}

// among tells which of the names is not among the labels.
func among(have labelSet, names []string) error {
	for _, n := range names {
		if !have[n] {
			return fmt.Errorf("no label %s to go by, there are: %s", n, have)
		}
	}
	return nil
}

func (c *Catalogue) aggregate(e *parser.AggregateExpr) (labelSet, error) {
	have, err := c.labelsOf(e.Expr)
	if err == nil {
		err = among(have, e.Grouping)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case e.Op == parser.TOPK || e.Op == parser.BOTTOMK:
		return have, nil
	case e.Without:
		return have.without(e.Grouping...), nil
	}
	return setOf(e.Grouping...), nil
}

func (c *Catalogue) binary(e *parser.BinaryExpr) (labelSet, error) {
	left, err := c.labelsOf(e.LHS)
	if err != nil {
		return nil, err
	}
	right, err := c.labelsOf(e.RHS)
	if err != nil {
		return nil, err
	}
	if e.VectorMatching == nil { // with a number
		return left.with(keys(right)...), nil
	}
	if e.VectorMatching.On {
		for _, side := range []labelSet{left, right} {
			if err := among(side, e.VectorMatching.MatchingLabels); err != nil {
				return nil, err
			}
		}
	} else if e.Op != parser.LOR && left.String() != right.String() && len(e.VectorMatching.MatchingLabels) == 0 {
		return nil, fmt.Errorf("%s never meets: the left side has %s, the right one %s", e.Op, left, right)
	}
	return left.with(e.VectorMatching.Include...), nil
}

func keys(s labelSet) []string {
	var list []string
	for n := range s {
		list = append(list, n)
	}
	return list
}

func (c *Catalogue) call(e *parser.Call) (labelSet, error) {
	found := labelSet{}
	for _, arg := range e.Args {
		have, err := c.labelsOf(arg)
		if err != nil {
			return nil, err
		}
		found = found.with(keys(have)...)
	}
	switch e.Func.Name {
	case "histogram_quantile":
		if !found["le"] {
			return nil, fmt.Errorf("histogram_quantile needs le, there are: %s", found)
		}
		return found.without("le"), nil
	case "label_replace", "label_join":
		return found.with(e.Args[1].(*parser.StringLiteral).Val), nil
	case "vector", "time":
		return labelSet{}, nil
	}
	return found, nil
}
