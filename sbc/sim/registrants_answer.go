package sim

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sip"
)

// authorized reports that the request that is out has credentials.
func (p *registrant) authorized() bool { return bytes.Contains(p.last, []byte("\r\nAuthorization: ")) }

func (l *Registrants) refused(i, code int) {
	l.report.Refused[code]++
	l.pbxs[i].done = true
	l.open--
}

// challenged sends the REGISTER with credentials.
func (l *Registrants) challenged(now time.Time, i int, m *sip.Message) {
	pbx := &l.cfg.PBXs[i]
	ch, err := pbx.pick(m)
	if err != nil {
		l.refused(i, 401)
		return
	}
	line, err := pbx.answer(ch, "REGISTER", domainOf(pbx.AOR), strconv.FormatInt(now.UnixNano(), 36))
	if err != nil {
		l.refused(i, 401)
		return
	}
	l.request(now, i, string(line))
}

// later heeds a 503: at once at the next node when nobody says when to come
// back.
func (l *Registrants) later(now time.Time, p *registrant, m *sip.Message) {
	v := m.Header(sip.RetryAfter)
	n, err := strconv.Atoi(string(v))
	if err != nil {
		n = 1
	} else {
		l.report.Spread++
	}
	after := time.Duration(n) * time.Second
	l.report.RetryAfter = max(l.report.RetryAfter, after)
	p.node++
	p.last = nil
	l.wait(now, p, after)
}

// dueHeap orders registrants by what is due next.
type dueHeap []*registrant

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i+1, j+1
}

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) {
	p := x.(*registrant)
	*h = append(*h, p)
	p.pos = len(*h)
}

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	p := old[len(old)-1]
	*h, p.pos = old[:len(old)-1], 0
	return p
}
