package main

import (
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// source is the data source that the reader of the dashboard has chosen.
var source = common.DataSourceRef{Type: new("prometheus"), Uid: new("$datasource")}

// builder makes dashboards in the form that every Grafana of today imports; the second one needs a very new one.
type builder = dashboard.DashboardBuilder //nolint:staticcheck // see above

// query is one expression and what its series are called.
type query struct{ expr, legend string }

// targets are the queries of a panel, as A, B, C and so on.
func targets(list []query, instant bool) []cog.Builder[variants.Dataquery] {
	var out []cog.Builder[variants.Dataquery]
	for i, q := range list {
		b := prometheus.NewDataqueryBuilder().Datasource(source).Expr(q.expr).LegendFormat(q.legend).RefId(string(rune('A' + i)))
		if instant {
			b = b.Instant()
		}
		out = append(out, b)
	}
	return out
}

// board begins a dashboard with the variables that all have, and those of its own.
func board(uid, title, about string, variables ...cog.Builder[dashboard.VariableModel]) *builder {
	b := dashboard.NewDashboardBuilder("Tandem / " + title) //nolint:staticcheck // see builder
	b = b.Uid("tandem-"+uid).Description(about).
		Tags([]string{"tandem", "sip"}).Refresh("30s").Time("now-3h", "now").Timezone(common.TimeZoneBrowser).Readonly().
		Link(dashboard.NewDashboardLinkBuilder("Tandem").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{"tandem"}).IncludeVars(true).KeepTime(true)).
		WithVariable(dashboard.NewDatasourceVariableBuilder("datasource").Label("Prometheus").Type("prometheus")).
		WithVariable(choice("cluster", "label_values(tandem_node_info, cluster)"))
	for _, v := range variables {
		b = b.WithVariable(v)
	}
	return b
}

// choice is a variable whose values Prometheus knows; all of them at first.
func choice(name, values string) *dashboard.QueryVariableBuilder {
	return dashboard.NewQueryVariableBuilder(name).Datasource(source).
		Query(dashboard.StringOrMap{String: new(values)}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Multi(true).IncludeAll(true).AllValue(".*")
}

// graph is a panel of lines over time. unit is one of Grafana's.
func graph(title, about, unit string, list ...query) *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().Title(title).Description(about).Unit(unit).Min(0).Datasource(source).
		Span(12).Height(8).FillOpacity(10).LineWidth(1).ShowPoints(common.VisibilityModeNever).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending)).
		Legend(common.NewVizLegendOptionsBuilder().DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).
			ShowLegend(true).Calcs([]string{"lastNotNull", "max"})).
		Targets(targets(list, false))
}

// number is one large value that turns red from a bound on; 0 bound stays green.
func number(title, about, unit string, red float64, q query) *stat.PanelBuilder {
	b := stat.NewPanelBuilder().Title(title).Description(about).Unit(unit).Datasource(source).Span(4).Height(4).
		ColorMode(common.BigValueColorModeBackground).GraphMode(common.BigValueGraphModeArea).NoValue("0").
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Targets(targets([]query{q}, false))
	steps := []dashboard.Threshold{{Color: "green"}}
	if red != 0 {
		steps = append(steps, dashboard.Threshold{Color: "red", Value: &red})
	}
	return b.Thresholds(dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps))
}

// timeline shows states over time, with a word for 1 and for 0: 1 is good, unless it is a hand-over.
func timeline(title, about string, one, zero string, list ...query) *statetimeline.PanelBuilder {
	bad, good := "red", "green"
	if one == "hand-over" { // where 1 is what somebody must see
		bad, good = "green", "orange"
	}
	text := func(s string) *string { return &s }
	return statetimeline.NewPanelBuilder().Title(title).Description(about).Datasource(source).Span(24).Height(8).
		ShowValue(common.VisibilityModeNever).MergeValues(true).
		Mappings([]dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{Type: dashboard.MappingTypeValueToText, Options: map[string]dashboard.ValueMappingResult{
			"0": {Text: text(zero), Color: text(bad)}, "1": {Text: text(one), Color: text(good)},
		}}}}).
		Targets(targets(list, false))
}

// list is a table of what there is now.
func list(title, about string, q query) *table.PanelBuilder {
	t := prometheus.NewDataqueryBuilder().Datasource(source).Expr(q.expr).Instant().Format(prometheus.PromQueryFormatTable).RefId("A")
	return table.NewPanelBuilder().Title(title).Description(about).Datasource(source).Span(24).Height(8).WithTarget(t).
		WithTransformation(dashboard.DataTransformerConfig{Id: "organize", Options: map[string]any{
			"excludeByName": map[string]bool{"Time": true, "__name__": true, "job": true, "cluster": true, "alertstate": true},
		}})
}

// where is the part of a selector that the variables make; more are matchers of its own.
func where(more ...string) string {
	return "{" + strings.Join(append([]string{`cluster=~"$cluster"`}, more...), ", ") + "}"
}
