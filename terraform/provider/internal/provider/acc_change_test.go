package provider_test

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/rig"
)

// one is a carrier with a member of its own and one in another resource.
const one = `
resource "tandem_trunk_group" "a" {
  name       = "carrier-a"
  role       = "pstn-provider"
  limits     = { calls = %d }
  members    = [{ id = "first", site = "dallas", address = "127.83.8.10:5060" }]
}
resource "tandem_member" "second" {
  trunk_group = tandem_trunk_group.a.name
  id          = "second"
  site        = "ashburn"
  address     = "127.83.8.11:5060"
  weight      = 2
}
`

// wrapped matches a text whose words may stand on several lines, as programs show errors.
func wrapped(expression string) *regexp.Regexp {
	return regexp.MustCompile("(?s)" + strings.ReplaceAll(expression, " ", `\s+`))
}

func apply(r *rig.Rig, calls int, check ...resource.TestCheckFunc) resource.TestStep {
	return resource.TestStep{Config: config(endpoints(r), fmt.Sprintf(one, calls)), Check: resource.ComposeAggregateTestCheckFunc(check...)}
}

func replace(t *testing.T, r *rig.Rig, old, by string) func() {
	t.Helper()
	return func() { r.Apply(t, func(text string) string { return strings.Replace(text, old, by, 1) }) }
}

func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: steps})
}

// TestAccDrift changes by hand what Terraform owns: it shows in the plan and is put back. What
// it does not own, keys of its own things among them, is no drift and stays.
func TestAccDrift(t *testing.T) {
	r := start(t)
	expect := func(address string, action plancheck.ResourceActionType) resource.ConfigPlanChecks {
		return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
	}
	weight := apply(r, 10, says(t, r, "weight: 2}"))
	weight.PreConfig, weight.ConfigPlanChecks = replace(t, r, "weight: 2}", "weight: 9}"), expect("tandem_member.second", plancheck.ResourceActionUpdate)
	gone := apply(r, 10, says(t, r, "id: second"))
	gone.PreConfig = func() {
		r.Apply(t, func(text string) string {
			return regexp.MustCompile(`(?m)^.*id: second.*\n`).ReplaceAllString(text, "")
		})
	}
	gone.ConfigPlanChecks = expect("tandem_member.second", plancheck.ResourceActionCreate)
	first := apply(r, 10, says(t, r, "127.83.8.10:5060"))
	first.PreConfig = replace(t, r, "127.83.8.10:5060", "127.83.8.99:5060")
	first.ConfigPlanChecks = expect("tandem_trunk_group.a", plancheck.ResourceActionUpdate)
	others := apply(r, 11, says(t, r, "calls: 11", "cps: 7", "maintenance:", "id: by-hand", "# by hand"))
	others.PreConfig = func() {
		r.Apply(t, func(text string) string {
			text = strings.Replace(text, "limits: {calls: 10}", "limits: {calls: 10}\n    maintenance: [{days: [sun], from: \"02:00\", to: \"04:00\"}] # by hand", 1)
			return strings.Replace(text, "      - {id: first", "      - {id: by-hand, site: dallas, address: \"127.83.8.77:5060\", limits: {cps: 7}}\n      - {id: first", 1)
		})
	}
	others.ConfigPlanChecks = expect("tandem_member.second", plancheck.ResourceActionNoop)
	refused := resource.TestStep{
		Config: config(endpoints(r), ""), ExpectError: wrapped(`others have something in it: members by-hand`),
	}
	last := apply(r, 11)
	last.PreConfig = func() {
		r.Apply(t, func(text string) string {
			return regexp.MustCompile(`(?m)^.*id: by-hand.*\n`).ReplaceAllString(text, "")
		})
	}
	run(t, apply(r, 10), weight, gone, first, others, refused, last)
}

// TestAccPassword shows that hashes which somebody else wrote are noticed and written anew.
func TestAccPassword(t *testing.T) {
	r := start(t)
	tf := config(endpoints(r), `
resource "tandem_trunk_group" "out" {
  name        = "acme-out"
  role        = "termination-customer"
  credentials = [{ username = "acme", realm = "sip.example.net", password_wo = "one", password_wo_version = 1 }]
}`)
	run(t,
		resource.TestStep{Config: tf, Check: says(t, r, digestOf("one"))},
		resource.TestStep{
			Config:           tf,
			PreConfig:        replace(t, r, digestOf("one"), digestOf("two")),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction("tandem_trunk_group.out", plancheck.ResourceActionUpdate)}},
			Check:            says(t, r, digestOf("one")),
		},
		resource.TestStep{ResourceName: "tandem_trunk_group.out", ImportState: true, ImportStateId: "acme-out/*", ImportStateCheck: func(s []*terraform.InstanceState) error {
			if len(s) != 1 || s[0].Attributes["credentials.0.username"] != "acme" || s[0].Attributes["credentials.0.password_wo"] != "" {
				return fmt.Errorf("import of all: %v", s[0].Attributes)
			}
			return nil
		}},
		resource.TestStep{Config: strings.Replace(tf, `"one", password_wo_version = 1`, `"three", password_wo_version = 2`, 1), Check: says(t, r, digestOf("three"))},
	)
}

// TestAccWrongValues has nodes refuse at plan time what no document could hold, with the reason.
func TestAccWrongValues(t *testing.T) {
	r := start(t)
	bad := func(text, reason string) resource.TestStep {
		return resource.TestStep{Config: config(endpoints(r), text), PlanOnly: true, ExpectError: wrapped(reason)}
	}
	group := func(rest string) string {
		return fmt.Sprintf(`resource "tandem_trunk_group" "a" {
  name = "carrier-a"
  role = "pstn-provider"
  members = [{ id = "m", site = "dallas", address = "127.83.8.10:5060" }]
  %s
}`, rest)
	}
	run(t,
		bad(group(`timers = { b_timer = "40s" }`), `timers\.b_timer.*above SIP timer B.*use at most`),
		bad(group(`advance_on = [200]`), `200 is not a code of a failed call`),
		bad(group(`distribution = { method = "weightd" }`), `weighted`),
		bad(strings.Replace(group(""), "127.83.8.10:5060", "127.83.8.10:sip", 1), `members\[0\]\.address`),
		bad(strings.Replace(group(""), "pstn-provider", "carrier", 1), `one of`),
		bad(`resource "tandem_number_range" "n" {
  trunk_group = "globex-in"
  pattern     = "12145550100"
}`, `must be a number`),
		resource.TestStep{Config: config(endpoints(r), `resource "tandem_member" "m" {
  trunk_group = "nobody"
  id          = "m"
  site        = "dallas"
  address     = "127.83.8.10:5060"
}`), ExpectError: wrapped(`no such trunk group`)},
		resource.TestStep{Config: config(endpoints(r), `resource "tandem_member" "m" {
  trunk_group = "globex-in"
  id          = "large"
  site        = "dallas"
  address     = "127.83.8.10:5060"
}`), ExpectError: wrapped(`is in the document already.*terraform import ADDRESS 'globex-in/large'`)},
		resource.TestStep{
			Config: strings.Replace(config([]string{r.Nodes[2].Endpoint()}, group("")), rig.Token, "another-token-of-a-test", 1), ExpectError: wrapped(`token_file or TANDEM_TOKEN`),
		},
	)
}

// TestAccConflict changes the document by hand between the moment when the provider read it and
// that when it applies: another part is no obstacle, its own part is.
func TestAccConflict(t *testing.T) {
	r := start(t)
	gate := r.Leader(t).Gate(t)
	step := func(calls int) resource.TestStep {
		return resource.TestStep{Config: config([]string{gate.Endpoint}, fmt.Sprintf(one, calls))}
	}
	hand := func(old, by string) func() {
		return func() {
			gate.OnChange(func(func() (int, []byte)) bool {
				replace(t, r, old, by)()
				return true
			})
		}
	}
	foreign := step(20)
	foreign.PreConfig = hand("# the last resort", "# the very last resort")
	foreign.Check = says(t, r, "calls: 20", "# the very last resort")
	own := step(30)
	own.PreConfig = hand("calls: 20", "calls: 25")
	own.ExpectError = wrapped(`of ada \(by hand\).*limits\.calls.*was changed since the plan`)
	again := step(30)
	again.Check = says(t, r, "calls: 30")
	run(t, step(10), foreign, own, again)
}

var errCount = errors.New("another number was expected")

// reasons counts the revisions whose reason has a text.
func reasons(r *rig.Rig, text string) (int, error) {
	var history struct {
		Revisions []struct{ Reason, Author string }
	}
	for _, n := range r.Nodes {
		if n.Get("/v1/config/history", &history) != nil {
			continue
		}
		count := 0
		for _, v := range history.Revisions {
			if strings.Contains(v.Reason, text) {
				count++
			}
		}
		return count, nil
	}
	return 0, errors.New("no node tells the history")
}

// TestAccLeaderDies kills the leader with SIGKILL in the middle of an apply: before it has the
// change, and after it has made it but before it could say so. The change is made once each time.
func TestAccLeaderDies(t *testing.T) {
	for _, x := range []struct {
		name string
		made bool
	}{{"before the change is made", false}, {"after the change is made", true}} {
		t.Run(x.name, func(t *testing.T) {
			r := start(t)
			leader := r.Leader(t)
			gate := leader.Gate(t)
			at := []string{gate.Endpoint}
			for _, n := range r.Nodes {
				if n != leader {
					at = append(at, n.Endpoint())
				}
			}
			once := func(what string) resource.TestCheckFunc {
				return func(*terraform.State) error {
					if n, err := reasons(r, what); err != nil || n != 1 {
						return fmt.Errorf("%q was made %d times: %w", what, n, cmp.Or(err, errCount))
					}
					return nil
				}
			}
			died := resource.TestStep{
				Config: config(at, fmt.Sprintf(one, 20)),
				PreConfig: func() {
					gate.OnChange(func(pass func() (int, []byte)) bool {
						if x.made {
							if status, body := pass(); status != 200 {
								t.Errorf("the leader did not make the change: %d %s", status, body)
							}
						}
						leader.Kill()
						return false
					})
				},
				Check: resource.ComposeAggregateTestCheckFunc(says(t, r, "calls: 20"), once("change trunk group carrier-a")),
			}
			run(t,
				resource.TestStep{Config: config(at, fmt.Sprintf(one, 10)), Check: once("create trunk group carrier-a")},
				died,
				resource.TestStep{Config: config(at, fmt.Sprintf(one, 20)), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
				resource.TestStep{Config: config(at, fmt.Sprintf(one, 30)), PreConfig: func() {
					leader.Start(t)
					r.Settle(t)
				}, Check: says(t, r, "calls: 30")},
			)
		})
	}
}

// TestAccLeaderDiesAtLarge kills the leader somewhere in an apply of many things that follow each other.
func TestAccLeaderDiesAtLarge(t *testing.T) {
	r := start(t)
	leader := r.Leader(t)
	var others []string
	for _, n := range r.Nodes {
		if n != leader {
			others = append(others, n.Endpoint())
		}
	}
	var tf strings.Builder
	fmt.Fprintf(&tf, one, 10)
	for i := range 8 {
		before := "tandem_member.second"
		if i > 0 {
			before = fmt.Sprintf("tandem_member.m%d", i-1)
		}
		fmt.Fprintf(&tf, `
resource "tandem_member" "m%d" {
  trunk_group = tandem_trunk_group.a.name
  id          = "m%d"
  site        = "ashburn"
  address     = "127.83.8.%d:5060"
  depends_on  = [%s]
}`, i, i, 50+i, before)
	}
	gate := r.Nodes[0]
	if gate == leader {
		gate = r.Nodes[1]
	}
	g := gate.Gate(t)
	var third func(pass func() (int, []byte)) bool
	left := 3
	third = func(func() (int, []byte)) bool {
		if left--; left > 0 {
			g.OnChange(third)
			return true
		}
		leader.Kill()
		return true
	}
	g.OnChange(third)
	run(t, resource.TestStep{
		Config: config(append([]string{g.Endpoint}, others...), tf.String()),
		Check: resource.ComposeAggregateTestCheckFunc(says(t, r, "id: m0", "id: m7"), func(*terraform.State) error {
			if g.Changes < 3 {
				return fmt.Errorf("only %d changes came by the gate", g.Changes)
			}
			if n, err := reasons(r, "create member carrier-a/m"); err != nil || n != 8 {
				return fmt.Errorf("8 members were made by %d changes: %w", n, cmp.Or(err, errCount))
			}
			return nil
		}),
	})
}
