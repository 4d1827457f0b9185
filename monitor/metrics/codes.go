package metrics

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// finals are the final responses of IANA's registry, in order. Others count as the x00 of their class: "a UAC MUST treat any final response it
// does not recognize as being equivalent to the x00 response code of that class" (RFC 3261 section 8.1.3.2).
var finals = [...]int{
	200, 202, 204,
	300, 301, 302, 305, 380,
	400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 412, 413, 414, 415, 416, 417, 420, 421, 422, 423, 424, 425, 428, 429, 430, 433, 436, 437, 438, 439,
	440, 469, 470, 480, 481, 482, 483, 484, 485, 486, 487, 488, 489, 491, 493, 494,
	500, 501, 502, 503, 504, 505, 513, 555, 580,
	600, 603, 604, 606, 607, 608,
}

// finalPlaces says where in finals each code from 200 on counts.
type finalPlaces [lastCode - 200 + 1]uint8

func newFinalPlaces() *finalPlaces {
	var p finalPlaces
	for i := range p {
		code := i + 200
		for at, known := range finals {
			if known == code/100*100 || known == code {
				p[i] = uint8(at) // finals is in order: the code itself comes after the x00
			}
		}
	}
	return &p
}

// answers counts the finals of one group's far ends.
type answers [len(finals)]atomic.Uint64

// Answer counts the final response of one attempt to a member of the group.
func (g *Group) Answer(code int) {
	if code >= 200 && code <= lastCode {
		g.answers[g.places[code-200]].Add(1)
	}
}

var descAnswers = desc("route_attempt_responses_total", "Final responses of the far ends; those that no RFC knows count as the x00 of their class.", "trunk_group", "code")

func (g *Group) collectAnswers(ch chan<- prometheus.Metric) {
	for i := range g.answers {
		if n := g.answers[i].Load(); n > 0 {
			ch <- prometheus.MustNewConstMetric(descAnswers, prometheus.CounterValue, float64(n), g.name, strconv.Itoa(finals[i]))
		}
	}
}
