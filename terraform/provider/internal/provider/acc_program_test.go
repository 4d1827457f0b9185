package provider_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/rig"
)

// program runs terraform or tofu as a user does, with the provider from a mirror.
type program struct {
	t   *testing.T
	dir string
	env []string
}

// do runs one command and returns its exit code and what it said.
func (p *program) do(args ...string) (int, string) {
	p.t.Helper()
	cmd := exec.Command(os.Getenv("TF_ACC_TERRAFORM_PATH"), args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	exit, code := (*exec.ExitError)(nil), 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		p.t.Fatal(err)
	}
	return code, string(out)
}

func (p *program) must(want int, args ...string) string {
	p.t.Helper()
	code, out := p.do(args...)
	if code != want {
		p.t.Fatalf("%s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, out)
	}
	return out
}

// TestAccProgram goes through the example of the guide by hand: init, apply, no difference, a
// difference after a change by hand, and destroy. No secret and no hash is in the state.
func TestAccProgram(t *testing.T) {
	mirror := os.Getenv("TF_TEST_MIRROR")
	if mirror == "" {
		t.Skip("TF_TEST_MIRROR names a mirror with the built provider; tools/terraform-provider-test makes one")
	}
	r := start(t)
	p := &program{t: t, dir: t.TempDir()}
	for _, name := range []string{"main.tf", "provider.tf"} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(example(t, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rc := filepath.Join(p.dir, "mirror.rc")
	if err := os.WriteFile(rc, fmt.Appendf(nil, "provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "TANDEM_ADDR="+strings.Join(endpoints(r), ","), "TANDEM_TOKEN="+rig.Token, "TF_VAR_endpoints=[]")
	p.must(0, "init", "-no-color")
	out := p.must(0, "apply", "-no-color", "-auto-approve")
	if !strings.Contains(out, "carrier-a/gw-dal") && !strings.Contains(out, "acme-in/pbx-dal") {
		t.Errorf("the call is not explained:\n%s", out)
	}
	p.must(0, "plan", "-no-color", "-detailed-exitcode")
	state, err := os.ReadFile(filepath.Join(p.dir, "terraform.tfstate"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"not-a-secret", digestOf("not-a-secret"), rig.Token} {
		if bytes.Contains(state, []byte(secret)) {
			t.Errorf("%q is in the state", secret)
		}
	}
	replace(t, r, "interval: 5s", "interval: 7s")()
	if out := p.must(2, "plan", "-no-color", "-detailed-exitcode"); !strings.Contains(out, `"7s" -> "5s"`) {
		t.Errorf("the drift is not shown:\n%s", out)
	}
	p.must(0, "apply", "-no-color", "-auto-approve")
	p.must(0, "destroy", "-no-color", "-auto-approve")
	if text := r.Document(t).Text; text != example(t, "cluster.yaml") {
		t.Errorf("destroy leaves\n%s", text)
	}
}
