//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ocs is CGRateS, a charging system of others, with prepaid accounts.
type ocs struct {
	t    testing.TB
	host string
}

// startOCS starts CGRateS on an address of this machine, with its tariff: one unit a second.
func startOCS(t testing.TB, host string) *ocs {
	t.Helper()
	binary, err := filepath.Abs("../bin/cgr-engine")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(binary); err != nil {
		t.Fatalf("there is no CGRateS: %v; make it with: make ocs", err)
	}
	dictionary, err := filepath.Abs("testdata/cgrates/dictionary")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/cgrates/cgrates.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := strings.NewReplacer("@HOST@", host, "@DICTIONARY@", dictionary).Replace(string(text))
	if err := os.WriteFile(filepath.Join(dir, "cgrates.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(binary, "-config_path", dir)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("CGRateS:\n%s", text[max(0, len(text)-4000):])
		}
	})
	o := &ocs{t: t, host: host}
	eventually(t, time.Minute, "CGRateS", func() error { return o.ask("CoreSv1.Status", `{}`, nil) })
	tariff, err := filepath.Abs("testdata/cgrates/tariff")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.ask("APIerSv1.LoadTariffPlanFromFolder", fmt.Sprintf(`{"FolderPath": %q}`, tariff), nil); err != nil {
		t.Fatal(err)
	}
	return o
}

// ask calls a method of CGRateS.
func (o *ocs) ask(method, params string, result any) error {
	body := fmt.Sprintf(`{"method": %q, "params": [%s], "id": 1}`, method, params)
	resp, err := http.Post("http://"+o.host+":2080/jsonrpc", "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var out struct {
		Result json.RawMessage
		Error  any
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return err
	}
	if out.Error != nil {
		return fmt.Errorf("%s: %v", method, out.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(out.Result, result)
}

// fund gives an account so many units, whatever it had.
func (o *ocs) fund(account string, units int) {
	o.t.Helper()
	params := fmt.Sprintf(`{"Tenant": "example.com", "Account": %q, "BalanceType": "*monetary", "Balance": {"ID": "prepaid", "Value": %d, "Weight": 10}}`, account, units)
	if err := o.ask("APIerSv1.SetBalance", params, nil); err != nil {
		o.t.Fatal(err)
	}
}

// balance is what an account has left.
func (o *ocs) balance(account string) float64 {
	o.t.Helper()
	var a struct {
		BalanceMap map[string][]struct{ Value float64 }
	}
	if err := o.ask("APIerSv2.GetAccount", fmt.Sprintf(`{"Tenant": "example.com", "Account": %q}`, account), &a); err != nil {
		o.t.Fatal(err)
	}
	sum := 0.0
	for _, b := range a.BalanceMap["*monetary"] {
		sum += b.Value
	}
	return sum
}

// ocsRecord is a record of CGRateS.
type ocsRecord struct {
	OriginHost, OriginID, Account, Destination, Usage string
	Cost                                              float64
	ExtraFields                                       map[string]string
}

// records are those of an account, by what wrote them: "tandem" is Ro, "tandem-rf" Rf.
func (o *ocs) records(account string) map[string][]ocsRecord {
	var list []ocsRecord
	if err := o.ask("APIerSv2.GetCDRs", fmt.Sprintf(`{"Accounts": [%q]}`, account), &list); err != nil {
		return nil
	}
	by := map[string][]ocsRecord{}
	for _, r := range list {
		by[r.OriginHost] = append(by[r.OriginHost], r)
	}
	return by
}

// seconds reads CGRateS' usage.
func (r *ocsRecord) seconds(t testing.TB) int {
	t.Helper()
	d, err := time.ParseDuration(r.Usage)
	if err != nil || d%time.Second != 0 {
		t.Errorf("usage %q is no number of seconds", r.Usage)
	}
	return int(d / time.Second)
}

// linesOf reads the records of a node as they stand in its file.
func linesOf[T any](t testing.TB, path string) (list []T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		var r T
		if bytes.HasSuffix(line, []byte("\n")) {
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			list = append(list, r)
		}
	}
	return list
}
