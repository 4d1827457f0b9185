package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const bindingsDir = "node_modules/@cdktf/provider-google"

// TestWhatTheBindingsSay compares types that are known by heart with what is read of the bindings.
func TestWhatTheBindingsSay(t *testing.T) {
	s, err := extract(bindingsDir, map[use]bool{
		{name: "google_compute_instance"}:          true,
		{name: "google_compute_firewall"}:          true,
		{data: true, name: "google_compute_zones"}: true,
	})
	if err != nil {
		t.Fatal(err, "(hint: tools/install-packages)")
	}
	instance := s.Resources["google_compute_instance"]
	attributes := map[string]attribute{}
	for _, a := range instance.Attributes {
		attributes[a.Name] = a
	}
	for name, want := range map[string]attribute{
		"machine_type":     {Type: []byte(`"string"`), Needed: true},
		"zone":             {Type: []byte(`"string"`)},
		"metadata":         {Type: []byte(`["map","string"]`)},
		"tags":             {Type: []byte(`["set","string"]`)},
		"can_ip_forward":   {Type: []byte(`"bool"`)},
		"self_link":        {Type: []byte(`"string"`), Told: true},
		"effective_labels": {Type: []byte(`["map","string"]`), Told: true},
	} {
		got, ok := attributes[name]
		if !ok || string(got.Type) != string(want.Type) || got.Needed != want.Needed || got.Told != want.Told {
			t.Errorf("%s: got %s needed %v told %v, want %s %v %v", name, got.Type, got.Needed, got.Told, want.Type, want.Needed, want.Told)
		}
	}
	for name, want := range map[string]nested{
		"boot_disk":         {Many: "list", Needed: true, One: true},
		"network_interface": {Many: "list", Needed: true},
		"attached_disk":     {Many: "list"},
		"service_account":   {Many: "list", One: true},
		"timeouts":          {Many: "single", One: true},
	} {
		got, ok := instance.Blocks[name]
		if !ok || got.Many != want.Many || got.Needed != want.Needed || got.One != want.One {
			t.Errorf("block %s: got %s needed %v one %v, want %s %v %v", name, got.Many, got.Needed, got.One, want.Many, want.Needed, want.One)
		}
	}
	if _, ok := instance.Blocks["network_interface"].Block.Blocks["access_config"]; !ok {
		t.Error("there is no access_config inside network_interface")
	}
	if got := s.Resources["google_compute_firewall"].Blocks["allow"]; got.Many != "set" || got.One {
		t.Errorf("allow of a firewall: %s, at most one %v; want a set of many", got.Many, got.One)
	}
	if len(s.DataSources["google_compute_zones"].Attributes) == 0 {
		t.Error("the data source has no attributes")
	}
	if _, err := s.protocol(); err != nil {
		t.Error(err)
	}
}

func TestTypeThatTheProviderLacks(t *testing.T) {
	_, err := extract(bindingsDir, map[use]bool{{name: "google_compute_teapot"}: true})
	if err == nil || !strings.Contains(err.Error(), "google_compute_teapot") {
		t.Fatalf("got %v, want an error that names the type", err)
	}
}

// good is a configuration that fits. Each case of TestSchemaBites spoils one line of it.
const good = `terraform {
  required_providers {
    google = {
      source = "registry.terraform.io/hashicorp/google"
    }
  }
}
resource "google_compute_instance" "node" {
  name         = "dal-1"
  machine_type = "e2-small"
  boot_disk {
    auto_delete = true
  }
  network_interface {
    subnetwork = "dallas"
  }
}
resource "google_dns_record_set" "srv" {
  name         = "_sip._udp.sip.example.com."
  type         = "SRV"
  ttl          = 60
  managed_zone = "sip"
  rrdatas      = ["10 50 5060 dal-1.sip.example.com."]
}
`

// TestSchemaBites has Terraform refuse what the real provider's schema does not have: the mirror is worth nothing
// if it lets everything pass.
func TestSchemaBites(t *testing.T) {
	tf := terraform(t)
	mirror, work := t.TempDir(), t.TempDir()
	config := filepath.Join(work, "main.tf")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(good)
	program := filepath.Join(t.TempDir(), "tfmirror")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(program, "-bindings", bindingsDir, "-for", work, "-mirror", mirror).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	rc := filepath.Join(mirror, "rc")
	if err := os.WriteFile(rc, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+mirror+"\"\n  }\n}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command(tf, append([]string{"-chdir=" + work}, args...)...)
		cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+rc)
		out, err := cmd.CombinedOutput()
		return strings.Join(strings.Fields(string(out)), " "), err
	}
	if out, err := run("init", "-no-color"); err != nil {
		t.Fatal(out)
	}
	if out, err := run("validate", "-no-color"); err != nil {
		t.Fatal("what fits is refused:", out)
	}
	for _, c := range []struct{ what, old, new, want string }{
		{"an argument that is not there", `name         = "dal-1"`, "name = \"dal-1\"\n  serial_port = true", `An argument named "serial_port" is not expected here`},
		{"a needed argument is missing", `machine_type = "e2-small"`, "", `The argument "machine_type" is required`},
		{"a needed block is missing", "network_interface {\n    subnetwork = \"dallas\"\n  }", "", `At least 1 "network_interface" blocks are required`},
		{"a second block where one may be", "boot_disk {", "boot_disk {\n  }\n  boot_disk {", `No more than 1 "boot_disk" blocks are allowed`},
		{"a block that is not there", "network_interface {", "firewall {\n  }\n  network_interface {", `Blocks of type "firewall" are not expected here`},
		{"an argument inside a block that is not there", `subnetwork = "dallas"`, `subnet = "dallas"`, `An argument named "subnet" is not expected here`},
		{"text where a number is needed", `ttl          = 60`, `ttl = "soon"`, `a number is required`},
		{"text where a list is needed", `["10 50 5060 dal-1.sip.example.com."]`, `"10 50 5060 dal-1.sip.example.com."`, `list of string required`},
		{"what only the provider tells", `name         = "dal-1"`, "name = \"dal-1\"\n  self_link = \"x\"", `Nobody can set "self_link"`},
		{"a type that is not there", `"google_dns_record_set"`, `"google_dns_teapot"`, `does not support resource type "google_dns_teapot"`},
	} {
		t.Run(c.what, func(t *testing.T) {
			spoiled := strings.Replace(good, c.old, c.new, 1)
			if spoiled == good {
				t.Fatal("the case changes nothing")
			}
			put(spoiled)
			out, err := run("validate", "-no-color")
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("want it refused with %q, got %v: %s", c.want, err, out)
			}
		})
	}
}

// terraform is the tool that is tested with: TF of the environment, else OpenTofu or Terraform, whichever is there.
func terraform(t *testing.T) string {
	t.Helper()
	if tf := os.Getenv("TF"); tf != "" {
		return tf
	}
	for _, name := range []string{"tofu", "terraform"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is neither OpenTofu nor Terraform here")
	return ""
}
