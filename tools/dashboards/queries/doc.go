// Package queries judges PromQL of rules and dashboards by what nodes really tell: each metric must be one of
// docs/metrics.md, whose names a test of the main module keeps equal to the code, or a recording rule; and each label of
// a selector, a grouping or a template must be one that the series have.
package queries
