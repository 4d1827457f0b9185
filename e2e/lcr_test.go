//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/sbc/sim"
)

// invites are the INVITEs that carriers got, by the group that was dialled.
type invites struct {
	mu   sync.Mutex
	list map[string][]string
}

// tap keeps what one carrier gets.
func (v *invites) tap(group string) sim.Tap {
	return func(_ time.Time, dir sim.Direction, data []byte) {
		if dir == sim.In && strings.HasPrefix(string(data), "INVITE ") {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.list[group] = append(v.list[group], string(data))
		}
	}
}

// of is the one INVITE that a carrier got for a number.
func (v *invites) of(t testing.TB, group, number string) string {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, m := range v.list[group] {
		if strings.Contains(m, number) {
			return m
		}
	}
	t.Errorf("%s got no INVITE for %s", group, number)
	return ""
}

// decisionServer answers by the number that is dialled, and keeps the questions.
type decisionServer struct {
	mu      sync.Mutex
	answers map[string]string
	asked   []map[string]any
	auth    string
}

func (d *decisionServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q map[string]any
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked, d.auth = append(d.asked, q), r.Header.Get("Authorization")
	answer, ok := d.answers[fmt.Sprint(q["dialed_number"])]
	if !ok {
		http.Error(w, "no decision", http.StatusInternalServerError)
		return
	}
	fmt.Fprint(w, answer)
}

// number is the number of a case.
func number(n int) string { return fmt.Sprintf("+120255501%02d", n) }

// S-001 to S-100 as a customer, carriers and a decision server see them: the answers are those
// that people write to begin with. Each call is one number.
func TestS012_S035_S080_S084_RoutesOfADecisionServer(t *testing.T) {
	t.Parallel()
	s, seen := newSolo(t), &invites{list: map[string][]string{}}
	groups := []struct {
		name, keys string
		b          sim.Behaviour
	}{
		{"carrier-a", "", sim.AnswersAtOnce()},
		{"carrier-plain", ", number_policy: plain", sim.AnswersAtOnce()},
		{"carrier-503", "", sim.Unavailable()},
		{"carrier-486", "", sim.Busy()},
		{"carrier-404", "", sim.Rejects(404, 0)},
		{"carrier-x", ", advance_on: [404, 408, 500, 503]", sim.Rejects(404, 0)},
		{"carrier-ring", "", sim.RingsForEver(50 * time.Millisecond)},
		{"carrier-late", "", sim.Answers(50*time.Millisecond, 3*time.Second)},
	}
	document := `cluster: survivors
sites: [{name: dallas}]
number_policies: [{name: plain, format: plain}]
trunk_groups:
  - {name: acme-out, role: termination-customer, sources: [{ip: 127.0.0.1}], route_plan: wholesale}
`
	for _, g := range groups {
		far := s.gateway(g.name, g.b, seen.tap(g.name))
		document += fmt.Sprintf("  - {name: %s, role: pstn-provider, members: [{id: gw, site: dallas, address: %q}]%s}\n", g.name, far.Addr(0), g.keys)
	}
	d := &decisionServer{answers: map[string]string{
		number(1): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-503", "rate": 0.0042}, {"carrier_id": "B", "gateway_group": "carrier-a", "rate": 0.0050, "currency": "USD", "cdr_fields": {"deal": "7"}}]}`,
		number(2): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-486"}, {"carrier_id": "B", "gateway_group": "carrier-a"}]}`,
		number(3): `{"routes": [{"carrier_id": "X", "gateway_group": "carrier-x"}, {"carrier_id": "B", "gateway_group": "carrier-a"}]}`,
		number(4): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-404"}, {"carrier_id": "B", "gateway_group": "carrier-a"}]}`,
		number(5): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-404", "reroute_causes": [404]}, {"carrier_id": "B", "gateway_group": "carrier-a"}]}`,
		number(6): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-plain", "tech_prefix": "1010288", "headers": {"X-Account": "42", "Via": "evil"}, "rate": 0.0042}]}`,
		number(7): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-a", "tech_prefix": "1010288"}]}`,
		number(8): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-503", "caller_id": "+13105550100"},
			{"carrier_id": "W", "gateway_group": "carrier-plain", "caller_id": "+13105550100", "caller_id_presentation": "restricted"}]}`,
		number(9):  `{"reject": {"code": 603, "reason": "Blocked"}, "routes": [{"carrier_id": "A", "gateway_group": "carrier-a"}]}`,
		number(10): `{"routes": []}`,
		number(12): `{"routes": [{"carrier_id": "X", "gateway_group": "carrier-ring", "timeout_secs": 2, "reroute_after_progress": true}, {"carrier_id": "B", "gateway_group": "carrier-a"}]}`,
		number(13): `{"routes": [{"carrier_id": "A", "gateway_group": "carrier-late", "timeout_secs": 1}, {"carrier_id": "B", "gateway_group": "carrier-a"}]}`,
		number(14): `{"routes": [{"carrier_id": "A", "gateway_group": "no-such-group"}, {"carrier_id": "B", "gateway_group": "carrier-503"}, {"carrier_id": "C", "gateway_group": "carrier-503"}]}`,
	}}
	url := s.decisions(d.ServeHTTP)
	s.begin(document+fmt.Sprintf(`route_plans:
  - name: wholesale
    decision: {url: %q, auth_header: "Bearer ${LCR_TOKEN_OF_THE_TESTS:-s3cret}", fallback_group: carrier-a}
`, url), "")
	for _, c := range []struct {
		n, code  int
		attempts string // carrier and code of each, ! for one that was not dialled
		source   string
	}{
		{1, 200, "A 503, B 200", "lcr"},
		{2, 486, "A 486", "lcr"},
		{3, 200, "X 404, B 200", "lcr"},
		{4, 404, "A 404", "lcr"},
		{5, 200, "A 404, B 200", "lcr"},
		{6, 200, "A 200", "lcr"},
		{7, 200, "A 200", "lcr"},
		{8, 200, "A 503, W 200", "lcr"},
		{9, 603, "", ""},
		{10, 404, "", ""},
		{11, 200, "fallback:carrier-a 200", "fallback"},
		{12, 200, "X 408, B 200", "lcr"},
		{13, 200, "A 200", "lcr"},
		{14, 500, "A! 503, B 503, C 503", "lcr"},
		{6, 200, "A 200", "cache"},
	} {
		r := s.call(number(c.n), 50*time.Millisecond)
		line := s.line(r)
		var attempts []string
		ids := map[string]bool{r.CallID: true}
		for _, a := range line.Attempts {
			word := a.CarrierID
			if !a.Dialed {
				word += "!"
			} else if ids[a.EgressCallID] {
				t.Errorf("%d: two legs are called %s", c.n, a.EgressCallID)
			}
			ids[a.EgressCallID] = true
			attempts = append(attempts, fmt.Sprintf("%s %d", word, a.Code))
		}
		if got := strings.Join(attempts, ", "); r.Code != c.code || got != c.attempts || line.Source != c.source {
			t.Errorf("%d: the caller gets %d after %s by %q, want %d after %s by %q", c.n, r.Code, got, line.Source, c.code, c.attempts, c.source)
		}
		if c.n == 1 && (line.CarrierID != "B" || line.Fields["deal"] != "7" || line.Cost == 0) {
			t.Errorf("record %+v", line)
		}
	}
	seen.check(t)
	d.check(t)
}

// check sees how calls looked to carriers (S-080, S-081, S-084, S-085).
func (v *invites) check(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		group, number string
		has, lacks    []string
	}{
		{
			"carrier-plain", number(6)[1:],
			[]string{"INVITE sip:1010288" + number(6)[1:] + "@", "X-Account: 42\r\n"},
			[]string{"evil", "To: <sip:1010288"},
		},
		{"carrier-a", number(7), []string{"INVITE sip:1010288" + number(7) + "@"}, []string{"To: <sip:1010288"}},
		{"carrier-503", number(8), []string{"<sip:+13105550100@", "P-Asserted-Identity: "}, []string{callerNumber, "Privacy"}},
		{
			"carrier-plain", number(8)[1:],
			[]string{"From: \"Anonymous\" <sip:anonymous@anonymous.invalid>;tag=", "Privacy: id\r\n", "P-Asserted-Identity: "},
			[]string{callerNumber, callerNumber[1:], "From: <sip:13105550100"},
		},
	} {
		m := v.of(t, c.group, c.number)
		for _, text := range c.has {
			if !strings.Contains(m, text) {
				t.Errorf("%s, %s: no %q in\n%s", c.group, c.number, text, m)
			}
		}
		for _, text := range c.lacks {
			if strings.Contains(m, text) {
				t.Errorf("%s, %s: %q in\n%s", c.group, c.number, text, m)
			}
		}
	}
}

// check sees what was asked (rules 1.2.c), and that a kept answer was not asked for again.
func (d *decisionServer) check(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.auth != "Bearer s3cret" {
		t.Errorf("Authorization: %q", d.auth)
	}
	sixth := 0
	for _, q := range d.asked {
		if q["dialed_number"] == number(6) {
			sixth++
		}
		source, _ := q["source"].(map[string]any)
		if q["version"] != "1" || q["call_id"] == "" || source["ip"] != "127.0.0.1" || source["transport"] != "udp" || source["trunk_group"] != "acme-out" ||
			!strings.Contains(fmt.Sprint(q["from"]), callerNumber) || !strings.Contains(fmt.Sprint(q["to"]), fmt.Sprint(q["dialed_number"])) {
			t.Errorf("asked %v", q)
		}
	}
	if sixth != 1 || len(d.asked) != 14 {
		t.Errorf("%d questions, %d of the sixth number", len(d.asked), sixth)
	}
}
