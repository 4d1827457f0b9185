package provider_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/rig"
)

// remote is a configuration with https endpoints of nodes, each by the name in its certificate.
func remote(r *rig.Rig, more string, nodes ...*rig.Node) string {
	var at, names []string
	for _, n := range nodes {
		at = append(at, fmt.Sprintf("%q", n.Remote()))
		names = append(names, fmt.Sprintf("%q = %q", n.Remote(), n.ServerName()))
	}
	return fmt.Sprintf("provider \"tandem\" {\n  endpoints = [%s]\n  server_names = { %s }\n  ca_file = %q\n  retry_for = \"20s\"\n  %s\n}\n",
		strings.Join(at, ", "), strings.Join(names, ", "), filepath.Join(r.Dir, "ca.pem"), more)
}

// TestAccRemote goes by admin.remote of real nodes, as other machines do: two nodes whose certificates
// bear names of their own, one that wants the token and one that wants a client's certificate.
func TestAccRemote(t *testing.T) {
	r := start(t)
	dallas, ashburn := r.Nodes[0], r.Nodes[2]
	token := "token_file = \"" + filepath.Join(r.Dir, "admin.token") + "\""
	cert := fmt.Sprintf("cert_file = %q\n  key_file = %q", filepath.Join(r.Dir, "operator.pem"), filepath.Join(r.Dir, "operator.key"))
	both := remote(r, token+"\n  "+cert, ashburn, dallas)
	refused := func(tf, reason string) resource.TestStep {
		return resource.TestStep{Config: tf + fmt.Sprintf(one, 99), ExpectError: wrapped(reason)}
	}
	strange := filepath.Join(t.TempDir(), "strange")
	t.Run("by token and by certificate", func(t *testing.T) {
		run(t,
			resource.TestStep{Config: remote(r, token, ashburn) + fmt.Sprintf(one, 10), Check: says(t, r, "calls: 10")},
			resource.TestStep{Config: remote(r, cert, dallas) + fmt.Sprintf(one, 20), Check: says(t, r, "calls: 20")},
			refused(remote(r, "token = \"another-token-of-a-test\"", ashburn), `token_file or TANDEM_TOKEN`),
			refused(strings.Replace(remote(r, token, ashburn), `"ash-1.`, `"dal-1.`, 1), `certificate is valid for ash-1\.provider\.tandem\.internal`),
			refused(strings.Replace(remote(r, token, ashburn), "ca.pem", "operator.pem", 1), `certificate signed by unknown authority|unknown authority`),
			refused(remote(r, "token_file = \""+strange+"\"", ashburn), `Cannot read the token`),
			refused(remote(r, token, dallas), `certificate required`),
			resource.TestStep{
				PreConfig: func() {
					ashburn.Kill()
					t.Cleanup(func() { ashburn.Start(t) })
				},
				Config: both + fmt.Sprintf(one, 30), Check: says(t, r, "calls: 30"),
			},
		)
	})
}

// TestAccTwoAtOnce has two programs apply at one time to two nodes, each its own things: all of
// them are made, and neither sees a difference afterwards.
func TestAccTwoAtOnce(t *testing.T) {
	r := start(t)
	many := func(who string, octet int) string {
		return fmt.Sprintf(`
resource "tandem_trunk_group" "a" {
  name    = "carrier-%[1]s"
  role    = "pstn-provider"
  members = [{ id = "first", site = "dallas", address = "127.83.%[2]d.10:5060" }]
}
resource "tandem_member" "m" {
  count       = 30
  trunk_group = tandem_trunk_group.a.name
  id          = "m${count.index}"
  site        = "ashburn"
  address     = "127.83.%[2]d.${100 + count.index}:5060"
}
resource "tandem_number_range" "n" {
  count       = 30
  trunk_group = "globex-in"
  pattern     = "+1%[2]d5550${100 + count.index}"
}`, who, octet)
	}
	for i, who := range []string{"left", "right"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			tf := config([]string{r.Nodes[2*i].Endpoint(), r.Nodes[3-2*i].Endpoint()}, many(who, 201+i))
			begin := time.Now()
			resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: []resource.TestStep{
				{Config: tf, Check: func(*terraform.State) error {
					if text := r.Document(t).Text; strings.Count(text, "name: carrier-"+who) != 1 || strings.Count(text, fmt.Sprintf("127.83.%d.", 201+i)) != 31 ||
						strings.Count(text, fmt.Sprintf("+1%d5550", 201+i)) != 30 {
						return errors.New("not all is there once:\n" + text)
					}
					return nil
				}},
				{Config: tf, ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
			}})
			t.Logf("%s: %v", who, time.Since(begin))
		})
	}
}

// TestAccStrangeNames has things whose names mean something to YAML, or nothing anywhere: what is taken
// comes back as it was given, also where a carrier of the same address had another name before,
// and what is not is refused by a node with a reason.
func TestAccStrangeNames(t *testing.T) {
	r := start(t)
	named := func(name string) string {
		return config(endpoints(r), fmt.Sprintf(`
resource "tandem_number_policy" "p" {
  name = %q
}
resource "tandem_trunk_group" "g" {
  name    = %q
  role    = "pstn-provider"
  members = [{ id = %q, site = "dallas", address = "127.83.8.10:5060" }]
}`, name, name, name))
	}
	var steps []resource.TestStep
	for _, name := range []string{"null", "1e3", "2026-11-30", "a.b_c-d"} {
		steps = append(steps,
			resource.TestStep{Config: named(name), Check: resource.TestCheckResourceAttr("tandem_trunk_group.g", "name", name)},
			resource.TestStep{Config: named(name), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
			resource.TestStep{ResourceName: "tandem_trunk_group.g", ImportState: true, ImportStateId: name + "/*", ImportStateVerify: true, ImportStateVerifyIdentifierAttribute: "name"},
		)
	}
	for _, name := range []string{"", "a b", "a/b", "a: b", "~", "a\nb", "*x", "ü"} {
		steps = append(steps, resource.TestStep{Config: named(name), ExpectError: wrapped(`name`)})
	}
	for id, reason := range map[string]string{
		"nobody": `is not in the document`, "nobody/*": `is not in the document`, "/": `write the id as|is not in the document`, "": `write the id as|is not in the document|ID`,
		"a/b/c/*": `write the id as|is not in the document`, "globex-in\n": `write the id as|is not in the document`,
	} {
		if id != "" {
			steps = append(steps, resource.TestStep{Config: named("plain-one"), ResourceName: "tandem_trunk_group.g", ImportState: true, ImportStateId: id, ExpectError: wrapped(reason)})
		}
	}
	run(t, append(steps, resource.TestStep{Config: named("plain-one")})...)
}
