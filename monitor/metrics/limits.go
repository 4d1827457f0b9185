package metrics

// Limit is one limit as this node counts it.
type Limit struct {
	Scope, Name, Kind string
	// Max is the limit of the cluster; 0 for none.
	Max                  int
	Share, Used, Waiting int
	Lent, Borrowed       int
	SiteUsed, OtherUsed  int
	Complete             bool
	Short                uint64 // calls and attempts that found the share used up
}

var (
	limitLabels = []string{"scope", "name", "kind"}

	descLimitMax      = desc("limit_max", "The limit of the cluster.", limitLabels...)
	descLimitShare    = desc("limit_share", "What this node may use of the limit now.", limitLabels...)
	descLimitUsed     = desc("limit_in_use", "What this node uses of the limit.", limitLabels...)
	descLimitWaiting  = desc("limit_waiting", "Calls that wait for a larger share.", limitLabels...)
	descLimitLent     = desc("limit_lent", "Rights of this site that other sites have.", limitLabels...)
	descLimitBorrowed = desc("limit_borrowed", "Rights of other sites that this one has.", limitLabels...)
	descLimitComplete = desc("limit_complete", "1 while the whole share of the site is to be had.", limitLabels...)
	descLimitShort    = desc("limit_short_total", "Calls and attempts that found this node's share used up: they waited, or were refused.", limitLabels...)
)

// limits shows the limits. What has none is counted by other metrics.
func (p page) limits(list []Limit) {
	for i := range list {
		l := &list[i]
		if l.Max == 0 {
			continue
		}
		labels := []string{l.Scope, l.Name, l.Kind}
		p.gauge(descLimitMax, float64(l.Max), labels...)
		p.gauge(descLimitShare, float64(l.Share), labels...)
		p.gauge(descLimitUsed, float64(l.Used), labels...)
		p.gauge(descLimitWaiting, float64(l.Waiting), labels...)
		p.gauge(descLimitLent, float64(l.Lent), labels...)
		p.gauge(descLimitBorrowed, float64(l.Borrowed), labels...)
		p.flag(descLimitComplete, l.Complete, labels...)
		p.counter(descLimitShort, l.Short, labels...)
	}
}
