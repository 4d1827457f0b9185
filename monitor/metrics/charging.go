package metrics

import "github.com/prometheus/client_golang/prometheus"

// Charging is what a node's charging does.
type Charging struct {
	Online, Offline int // sessions
	Requests        map[ChargingRequest]uint64
	Seconds         map[string]float64 // to the answers, by kind
	Refused, Ended  map[string]uint64  // calls, by why
	Uncontrolled    uint64
	Kept            int
	Dropped         uint64
	Rejected        uint64
	Failing         bool // the spool's disk
	Peers           []DiameterPeer
}

// ChargingRequest is the labels of a count of requests.
type ChargingRequest struct{ Kind, Result string }

// DiameterPeer is how a charging server does.
type DiameterPeer struct {
	Name                string
	Up                  bool
	Sent, Answers, Lost uint64
	Pending             int
}

var (
	descChargingSessions     = desc("charging_sessions", "Calls that are charged now, by application: ro (credit) and rf (accounting).", "application")
	descChargingRequests     = desc("charging_requests_total", "Requests to charging servers, by what was asked and what came of it: ok, free, denied, failed, lost (no answer) or unsent (no server was well).", "request", "result")
	descChargingSeconds      = desc("charging_answer_seconds_total", "Time that answers of charging servers took, summed; by request.", "request")
	descChargingRefused      = desc("charging_refused_total", "Calls that were refused before they were dialled, by why: credit or failure.", "reason")
	descChargingEnded        = desc("charging_ended_total", "Calls that were ended while they were up, by why: credit or failure.", "reason")
	descChargingUncontrolled = desc("charging_uncontrolled_total", "Calls that went on without credit control: the server wants none of them, or nobody answered and on_failure is continue.")
	descChargingKept         = desc("charging_kept", "Records that charging servers have yet to be told.")
	descChargingDropped      = desc("charging_dropped_total", "Records that were lost since too many were kept.")
	descChargingRejected     = desc("charging_rejected_total", "Records that a server took and did not accept.")
	descChargingFailing      = desc("charging_spool_failing", "Whether the disk takes no records of charging.")
	descDiameterUp           = desc("diameter_peer_up", "Whether a charging server gets requests.", "peer")
	descDiameterSent         = desc("diameter_requests_total", "Requests that were sent to a charging server.", "peer")
	descDiameterAnswers      = desc("diameter_answers_total", "Answers of a charging server.", "peer")
	descDiameterLost         = desc("diameter_lost_total", "Requests that a charging server did not answer in time, or at all.", "peer")
	descDiameterPending      = desc("diameter_pending", "Requests that wait for the answer of a charging server.", "peer")
)

func (p page) charging(c *Charging) {
	p.gauge(descChargingSessions, float64(c.Online), "ro")
	p.gauge(descChargingSessions, float64(c.Offline), "rf")
	for k, n := range c.Requests {
		p.counter(descChargingRequests, n, k.Kind, k.Result)
	}
	for kind, v := range c.Seconds {
		p.ch <- prometheus.MustNewConstMetric(descChargingSeconds, prometheus.CounterValue, v, kind)
	}
	for why, n := range c.Refused {
		p.counter(descChargingRefused, n, why)
	}
	for why, n := range c.Ended {
		p.counter(descChargingEnded, n, why)
	}
	p.counter(descChargingUncontrolled, c.Uncontrolled)
	p.gauge(descChargingKept, float64(c.Kept))
	p.counter(descChargingDropped, c.Dropped)
	p.counter(descChargingRejected, c.Rejected)
	p.flag(descChargingFailing, c.Failing)
	for i := range c.Peers {
		x := &c.Peers[i]
		p.flag(descDiameterUp, x.Up, x.Name)
		p.counter(descDiameterSent, x.Sent, x.Name)
		p.counter(descDiameterAnswers, x.Answers, x.Name)
		p.counter(descDiameterLost, x.Lost, x.Name)
		p.gauge(descDiameterPending, float64(x.Pending), x.Name)
	}
}
