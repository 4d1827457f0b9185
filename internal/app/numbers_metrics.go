package app

import "github.com/tandem-sbc/tandem/monitor/metrics"

// imported counts an import of numbers that was asked of this node.
func (m *meter) imported(ok bool) {
	if ok {
		m.imports.Add(1)
	} else {
		m.refusedImports.Add(1)
	}
}

func numberMetrics(a *App) metrics.Numbers {
	n := a.node.Numbers()
	m := metrics.Numbers{
		Edition: n.Version.Revision, Since: n.At, Patterns: n.Table.Len(), Open: len(n.Imports),
		Imported: a.watch.meter.imports.Load(), Failed: a.watch.meter.refusedImports.Load(),
	}
	for _, patterns := range n.Orphans {
		m.Orphans += patterns
	}
	return m
}
