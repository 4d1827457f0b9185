package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/provider"
	"github.com/tandem-sbc/tandem/terraform/provider/internal/rig"
)

func factories() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){"tandem": providerserver.NewProtocol6WithError(provider.New("test")())}
}

func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// start brings up a cluster with the examples' document. Without TF_ACC the test is skipped.
func start(t *testing.T) *rig.Rig {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1, by make provider-test")
	}
	return rig.Start(t, example(t, "cluster.yaml"))
}

// config is a configuration of the provider with endpoints before the rest.
func config(endpoints []string, rest string) string {
	quoted := make([]string, len(endpoints))
	for i, e := range endpoints {
		quoted[i] = fmt.Sprintf("%q", e)
	}
	return fmt.Sprintf("provider \"tandem\" {\n  endpoints = [%s]\n  token = %q\n}\n%s", strings.Join(quoted, ", "), rig.Token, rest)
}

func endpoints(r *rig.Rig) []string {
	var out []string
	for _, n := range r.Nodes {
		out = append(out, n.Endpoint())
	}
	return out
}

// says checks that the document in force has all of these lines.
func says(t *testing.T, r *rig.Rig, lines ...string) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		text := r.Document(t).Text
		for _, line := range lines {
			if !strings.Contains(text, line) {
				return fmt.Errorf("the document lacks %q:\n%s", line, text)
			}
		}
		return nil
	}
}

// untouched checks that every line of what people wrote is there, in its order.
func untouched(t *testing.T, r *rig.Rig, before string) resource.TestCheckFunc {
	t.Helper()
	return func(*terraform.State) error {
		rest := r.Document(t).Text
		for line := range strings.Lines(before) {
			i := strings.Index(rest, line)
			if i < 0 {
				return fmt.Errorf("the line %q is not where people put it:\n%s", line, r.Document(t).Text)
			}
			rest = rest[i+len(line):]
		}
		return nil
	}
}

// TestAccExample applies the example of the guide, changes it, imports it, and destroys it.
func TestAccExample(t *testing.T) {
	r := start(t)
	before := example(t, "cluster.yaml")
	tf := example(t, "main.tf")
	changed := strings.NewReplacer(`calls = 50, cps = 5`, `calls = 60`, `method = "failover"`, `method = "weighted"`,
		`"+14695550100"`, `"+170355501*"`, `priority = 1`, `weight = 3`, `password_wo_version = 1`, `password_wo_version = 2`,
		`default   = "not-a-secret"`, `default   = "another"`).Replace(tf)
	of := func(address, id string, ignore ...string) resource.TestStep {
		return resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateId: id, ImportStateVerify: true, ImportStateVerifyIgnore: ignore,
			ImportStateVerifyIdentifierAttribute: identifier(address),
		}
	}
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: factories(), Steps: []resource.TestStep{
		{
			Config: config(endpoints(r), tf),
			Check: resource.ComposeAggregateTestCheckFunc(
				says(t, r, "- name: carrier-a", "id: gw-ash", "+12145550100..+12145550149", "ha1_sha256: "),
				untouched(t, r, before),
				resource.TestCheckResourceAttr("data.tandem_cluster_status.now", "nodes.#", "5"),
				resource.TestCheckResourceAttr("data.tandem_explain.inbound", "direction", "inbound"),
				resource.TestCheckNoResourceAttr("tandem_credential.acme", "password_wo"),
			),
		},
		{Config: config(endpoints(r), tf), ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}},
		of("tandem_trunk_group.carrier", "carrier-a", "members"),
		of("tandem_trunk_group.acme_in", "acme-in", "members"),
		of("tandem_member.ashburn", "carrier-a/gw-ash"),
		of("tandem_number_range.fax", "acme-in/+14695550100"),
		of("tandem_credential.acme", "acme-out/acme@sip.example.net", "password_wo_version"),
		of("tandem_route_plan.domestic", "domestic"),
		of("tandem_number_policy.plain", "plain"),
		{
			Config: config(endpoints(r), changed),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction("tandem_member.ashburn", plancheck.ResourceActionUpdate),
				plancheck.ExpectResourceAction("tandem_trunk_group.carrier", plancheck.ResourceActionUpdate),
				plancheck.ExpectResourceAction("tandem_route_plan.domestic", plancheck.ResourceActionNoop),
				plancheck.ExpectResourceAction("tandem_number_range.fax", plancheck.ResourceActionReplace),
			}},
			Check: resource.ComposeAggregateTestCheckFunc(
				says(t, r, "distribution: {method: weighted}", "weight: 3", "limits: {calls: 60}", digestOf("another")), untouched(t, r, before)),
		},
	}, CheckDestroy: func(*terraform.State) error {
		if text := r.Document(t).Text; text != before {
			return fmt.Errorf("destroy leaves\n%s", text)
		}
		return nil
	}})
}

// identifier is an attribute that tells the resources of a kind apart in a test.
func identifier(address string) string {
	switch {
	case strings.Contains(address, "member"):
		return "id"
	case strings.Contains(address, "number_range"):
		return "pattern"
	case strings.Contains(address, "credential"):
		return "username"
	}
	return "name"
}

// digestOf is what the document says of acme's password.
func digestOf(password string) string { return provider.Hashes("acme", "sip.example.net", password)[0] }
