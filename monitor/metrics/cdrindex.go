package metrics

import "github.com/tandem-sbc/tandem/monitor/cdrindex"

var (
	descIndexRows       = desc("cdr_index_rows", "Call records that can be found.")
	descIndexBytes      = desc("cdr_index_bytes", "Size of the database in use.")
	descIndexBehind     = desc("cdr_index_behind_bytes", "Of the files of call records, not read into the index yet.")
	descIndexFailing    = desc("cdr_index_failing", "1 when the index of call records is not kept, or is being made anew.")
	descIndexRebuilds   = desc("cdr_index_rebuilds_total", "How often the index was damaged and made anew.")
	descIndexUnreadable = desc("cdr_index_unreadable_lines_total", "Lines in files of call records that are no records.")
)

func (p page) index(s cdrindex.Stats) {
	p.gauge(descIndexRows, float64(s.Rows))
	p.gauge(descIndexBytes, float64(s.Bytes))
	p.gauge(descIndexBehind, float64(s.Behind))
	p.flag(descIndexFailing, s.Failing)
	p.counter(descIndexRebuilds, s.Rebuilds)
	p.counter(descIndexUnreadable, s.Unreadable)
}
