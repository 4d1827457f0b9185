package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tandem-sbc/tandem/cluster/fsm"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// numbersOffer is an edition of the number table, as the state machine has it.
type numbersOffer struct {
	table   *trunkgroup.NumberTable
	version trunkgroup.Version // Revision is the edition
	before  trunkgroup.Version // the edition that rows make this one of
	rows    []trunkgroup.NumberChange
	// record says who changed what; nil when only the outcome is known.
	record *fsm.NumbersRecord
}

// wholeOffer is an edition of which it is not known how it came about.
func wholeOffer(t *trunkgroup.NumberTable, v trunkgroup.Version) numbersOffer {
	return numbersOffer{table: t, version: v}
}

// maxWaitingRows bounds the changes that wait to be written to disk one by one; when there are
// more, the table is written instead.
const maxWaitingRows = 1 << 18

// numbersState is what the publisher knows of the number table. Its mutex is the publisher's.
type numbersState struct {
	waiting []numbersOffer
	rows    int // in waiting
	anew    bool

	table   *trunkgroup.NumberTable // that runs
	version trunkgroup.Version      // Revision 0 before the first
	source  string
	at      time.Time
	lower   uint64
	orphans map[string]int // patterns that own nothing, by the group that is not there
}

// offerNumbers takes an edition; the publisher's goroutine does the rest.
func (p *publisher) offerNumbers(o numbersOffer) {
	p.mu.Lock()
	n := &p.numbers
	if n.rows += len(o.rows); n.rows > maxWaitingRows {
		n.waiting, n.rows = nil, 0
		o.rows = nil
	}
	n.waiting = append(n.waiting, o)
	p.mu.Unlock()
	p.poke()
}

// takeNumbers publishes the newest edition that was offered, after it is on disk (DEC-14).
func (p *publisher) takeNumbers() {
	p.mu.Lock()
	n := &p.numbers
	waiting, base := n.waiting, n.version
	n.waiting, n.rows = nil, 0
	if base.Revision == 0 {
		base = trunkgroup.Version{Cluster: p.cluster, Generation: 1} // no table, as the cluster begins
	}
	if n.anew && len(waiting) > 0 {
		n.anew = false
		if n.version.Revision > 0 {
			base = trunkgroup.Version{}
		}
		last := waiting[len(waiting)-1]
		waiting = []numbersOffer{wholeOffer(last.table, last.version)}
	}
	p.mu.Unlock()
	var fresh []numbersOffer
	for _, o := range waiting {
		switch decide(p.cluster, base, o.version) {
		case refuseForeign:
			p.alarms.raise(AlarmForeign, "refused numbers of "+o.version.String())
		case refuseLower:
			p.count(&n.lower)
		case alreadyRuns:
			p.confirmNumbers(o)
		case publishIt:
			fresh, base = append(fresh, o), o.version
		}
	}
	p.keepNumbers(fresh)
	if len(fresh) == 0 {
		return
	}
	p.runNumbers(fresh[len(fresh)-1], SourceRaft)
	p.tellNumbers(fresh)
}

// keepNumbers writes editions to disk; a disk that fails does not keep a table from running.
func (p *publisher) keepNumbers(fresh []numbersOffer) {
	table, version := p.numbersNow()
	if len(fresh) > 0 {
		table, version = fresh[len(fresh)-1].table, fresh[len(fresh)-1].version
	}
	if version.Revision == 0 && !p.disk.used() {
		return
	}
	if err := p.disk.keep(fresh, table, version); err != nil {
		p.log.Error("the number table cannot be saved", "error", err)
		p.alarms.raise(AlarmNumbersSave, fmt.Sprintf("%v; calls go on with %s; free the disk: it is tried again", err, version))
		return
	}
	p.alarms.clear(AlarmNumbersSave)
}

// confirmNumbers takes the news that the cluster's numbers have the version that runs. There is
// one table in memory from then on.
func (p *publisher) confirmNumbers(o numbersOffer) {
	table, _ := p.numbersNow()
	if table == o.table {
		return
	}
	if table.Checksum() != o.table.Checksum() {
		p.count(&p.numbers.lower)
		p.alarms.raise(AlarmNumbersLower, o.version.String()+": this node has other numbers of the same edition; restart it when the numbers of the cluster are the right ones")
		return
	}
	p.runNumbers(o, SourceRaft)
}

// runNumbers makes an edition the running one, beside whatever document runs.
func (p *publisher) runNumbers(o numbersOffer, source string) {
	p.mu.Lock()
	n := &p.numbers
	n.table, n.version, n.source, n.at = o.table, o.version, source, time.Now()
	if p.table == nil {
		close(p.changed)
		p.changed = make(chan struct{})
		p.mu.Unlock()
		return
	}
	p.table = p.table.WithNumbers(o.table)
	table := p.table
	p.mu.Unlock()
	p.watchOrphans(table)
	p.publish(table)
	p.mu.Lock()
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	p.log.Info("numbers are running", "version", o.version.String(), "source", source, "numbers", o.table.Len())
}

// join puts the numbers that run beside a table that was compiled. Nil stays nil.
func (p *publisher) join(table *trunkgroup.Table) *trunkgroup.Table {
	numbers, v := p.numbersNow()
	if table == nil || v.Revision == 0 {
		return table
	}
	table = table.WithNumbers(numbers)
	p.watchOrphans(table)
	return table
}

// watchOrphans raises an alarm while rows of the number table belong to groups that own no
// numbers: the document and the numbers were changed at the same moment.
func (p *publisher) watchOrphans(table *trunkgroup.Table) {
	orphans := map[string]int{}
	for name, rows := range table.Numbers().Groups() {
		if g := table.Group(name); rows > 0 && (g == nil || g.Role != trunkgroup.OriginationCustomer) {
			orphans[name] = rows
		}
	}
	p.mu.Lock()
	p.numbers.orphans = orphans
	p.mu.Unlock()
	if len(orphans) == 0 {
		p.alarms.clear(AlarmNumbersOrphaned)
		return
	}
	var text []string
	for _, name := range slices.Sorted(maps.Keys(orphans)) {
		text = append(text, fmt.Sprintf("%d of %q", orphans[name], name))
	}
	p.alarms.raise(AlarmNumbersOrphaned, "numbers that nobody owns, since the document has no origination-customer group of that name: "+
		strings.Join(text, ", ")+"; move them with 'tandem number import', or put the group back")
}

// numbersNow returns the number table that runs and its version.
func (p *publisher) numbersNow() (*trunkgroup.NumberTable, trunkgroup.Version) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.numbers.table, p.numbers.version
}

// tellNumbers tells the watchers what came into force.
func (p *publisher) tellNumbers(fresh []numbersOffer) {
	for _, o := range fresh {
		if o.record == nil {
			continue
		}
		for _, f := range p.onNumbers {
			f(*o.record)
		}
	}
}

// loadNumbers reads the number table that this node had last.
func (p *publisher) loadNumbers() error {
	table, v, err := p.disk.load()
	if err != nil {
		p.log.Error("the number table on disk cannot be read", "error", err)
		p.alarms.raise(AlarmNumbersSave, fmt.Sprintf("%v; what could be read is edition %s; the others bring the rest", err, v))
	}
	if v.Revision == 0 {
		return nil
	}
	if v.Cluster != p.cluster {
		return fmt.Errorf("cluster: %s belongs to the cluster %q, this node to %q", p.disk.dir, v.Cluster, p.cluster)
	}
	p.runNumbers(numbersOffer{table: table, version: v}, SourceDisk)
	return nil
}
