package queries

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// targetLabels are those that service discovery and Prometheus give every series of a node.
var targetLabels = []string{"job", "instance", "cluster", "site", "node", "role"}

// labelSet is a set of names of labels.
type labelSet map[string]bool

func setOf(names ...string) labelSet {
	s := labelSet{}
	for _, n := range names {
		s[n] = true
	}
	return s
}

func (s labelSet) with(names ...string) labelSet {
	c := maps.Clone(s)
	for _, n := range names {
		c[n] = true
	}
	return c
}

func (s labelSet) without(names ...string) labelSet {
	c := maps.Clone(s)
	for _, n := range names {
		delete(c, n)
	}
	return c
}

// String lists the names in order.
func (s labelSet) String() string { return strings.Join(slices.Sorted(maps.Keys(s)), ", ") }

// Catalogue knows the labels of every series that there can be.
type Catalogue struct {
	series map[string]labelSet
}

var guideRow = regexp.MustCompile("(?m)^\\| ((?:`tandem_[a-z0-9_]+`(?:, )?)+) \\| ([a-z_, ]*) ?\\|")

// ReadGuide makes the catalogue of the tables of docs/metrics.md.
func ReadGuide(path string) (*Catalogue, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	c := &Catalogue{series: map[string]labelSet{}}
	for _, name := range []string{"up", "process_cpu_seconds_total", "process_resident_memory_bytes"} {
		c.series[name] = setOf(targetLabels...)
	}
	for _, row := range guideRow.FindAllStringSubmatch(string(text), -1) {
		labels := setOf(targetLabels...)
		for _, l := range strings.FieldsFunc(row[2], func(r rune) bool { return r == ',' || r == ' ' }) {
			labels[l] = true
		}
		for _, name := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(row[1], -1) {
			c.series[name[1]] = labels
			c.series[name[1]+"_sum"], c.series[name[1]+"_count"] = labels, labels
			c.series[name[1]+"_bucket"] = labels.with("le")
		}
	}
	if len(c.series) < 100 {
		return nil, fmt.Errorf("catalogue: only %d series in %s: its tables have changed, and what reads them has not", len(c.series), path)
	}
	return c, nil
}

// Rule is one rule of a rule file.
type Rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// Name is that of the alert or of the series.
func (r Rule) Name() string { return r.Alert + r.Record }

// ReadRules reads the rules of a file in their order.
func ReadRules(path string) ([]Rule, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	var file struct {
		Groups []struct {
			Rules []Rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("rules: %s: %w", path, err)
	}
	var list []Rule
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	return list, nil
}

// Add checks a recording rule and adds its series to the catalogue.
func (c *Catalogue) Add(r Rule) error {
	labels, err := c.Check(r.Expr)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Record, err)
	}
	c.series[r.Record] = labels
	return nil
}
