//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tandem-sbc/tandem/lab"
	"github.com/tandem-sbc/tandem/lab/tandem"
)

// configured is where the configuration of Prometheus that operators copy stands.
const configured = "../configs/prometheus"

// prometheus is Debian's Prometheus, outside of the sites, with our own configuration and rules.
type prometheus struct {
	t      testing.TB
	client *http.Client
}

// series is one result of a query.
type series struct {
	Labels map[string]string
	Value  float64
}

// Times of the files that are made shorter for a test, and those alone: expressions, labels and texts stay as they are.
// A minute of a `for` becomes a second, rates over five minutes are over fifteen seconds, and everything is asked for each second.
var (
	waitOf   = regexp.MustCompile(`(?m)^( +for: )(\d+[smh])$`)
	window   = strings.NewReplacer("[5m]", "[15s]")
	interval = regexp.MustCompile(`((?:scrape|evaluation|refresh)_interval: )\d+s`)
	node     = regexp.MustCompile(`http://[0-9.]+:9060/`)
)

// shortened is a file of configs/prometheus with its times made short.
func shortened(text string) string {
	text = waitOf.ReplaceAllStringFunc(text, func(line string) string {
		m := waitOf.FindStringSubmatch(line)
		d, err := time.ParseDuration(m[2])
		if err != nil {
			panic(err) // the expression has matched a duration
		}
		return m[1] + max(d/60, time.Second).Round(time.Second).String()
	})
	return interval.ReplaceAllString(window.Replace(text), "${1}1s")
}

// startPrometheus starts it with service discovery from these nodes.
func startPrometheus(t testing.TB, from ...*tandem.Node) *prometheus {
	t.Helper()
	l := theLab(t)
	dir := t.TempDir()
	for _, name := range []string{"prometheus.yaml", "recording.yaml", "alerts.yaml"} {
		text, err := os.ReadFile(filepath.Join(configured, name))
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		file := node.ReplaceAllStringFunc(shortened(string(text)), func(string) string {
			i++
			return "http://" + from[(i-1)%len(from)].IPv4.String() + ":9060/"
		})
		if err := os.WriteFile(filepath.Join(dir, name), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const at = "127.0.0.1:9090"
	process, err := l.Start(lab.Program{Place: lab.Outside, Name: "prometheus", Args: []string{
		"prometheus", "--config.file=" + filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=" + at, "--log.level=warn",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Stop)
	p := &prometheus{t: t, client: &http.Client{Timeout: askTimeout, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (c net.Conn, err error) {
			err = l.Namespace(lab.Outside).Do(func() error {
				c, err = (&net.Dialer{}).DialContext(ctx, "tcp", at)
				return err
			})
			return c, err
		},
	}}}
	t.Cleanup(p.client.CloseIdleConnections)
	eventually(t, time.Minute, "Prometheus", func() error {
		_, err := p.ask("vector(1)")
		return err
	})
	return p
}

// askTimeout bounds one question to Prometheus.
const askTimeout = 10 * time.Second

// ask evaluates an expression now.
func (p *prometheus) ask(expr string) ([]series, error) {
	resp, err := p.client.Get("http://prometheus/api/v1/query?" + url.Values{"query": {expr}}.Encode())
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", expr, answer.Error)
	}
	if answer.Data.ResultType != "vector" {
		return nil, nil
	}
	var result []struct {
		Metric map[string]string
		Value  [2]any
	}
	if err := json.Unmarshal(answer.Data.Result, &result); err != nil {
		return nil, fmt.Errorf("query %s: %w", expr, err)
	}
	var list []series
	for _, r := range result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", expr, err)
		}
		list = append(list, series{r.Metric, v})
	}
	return list, nil
}

// value is what an expression gives, summed over its series; 0 for none.
func (p *prometheus) value(expr string) float64 {
	p.t.Helper()
	list, err := p.ask(expr)
	if err != nil {
		p.t.Fatal(err)
	}
	sum := 0.0
	for _, s := range list {
		sum += s.Value
	}
	return sum
}

// alert is the expression of an alert that fires, with more matchers.
func alert(name string, matchers ...string) string {
	return fmt.Sprintf("ALERTS{%s}", strings.Join(append([]string{`alertstate="firing"`, fmt.Sprintf("alertname=%q", name)}, matchers...), ","))
}

// fires waits until an alert fires, and clears until it does not any more.
func (p *prometheus) fires(name string, matchers ...string) {
	p.t.Helper()
	p.until(true, name, matchers)
}

func (p *prometheus) clears(name string, matchers ...string) {
	p.t.Helper()
	p.until(false, name, matchers)
}

func (p *prometheus) until(firing bool, name string, matchers []string) {
	p.t.Helper()
	begin := time.Now()
	eventually(p.t, 90*time.Second, fmt.Sprintf("%s%v fires: %v", name, matchers, firing), func() error {
		list, err := p.ask(alert(name, matchers...))
		if err == nil && len(list) > 0 != firing {
			err = fmt.Errorf("%d of them", len(list))
		}
		return err
	})
	p.t.Logf("%s%v: fires=%v after %v", name, matchers, firing, time.Since(begin).Round(100*time.Millisecond))
}

// rises waits until an expression gives at least this much more than before.
func (p *prometheus) rises(before, by float64, expr string) {
	p.t.Helper()
	eventually(p.t, 30*time.Second, expr, func() error {
		list, err := p.ask(expr)
		sum := 0.0
		for _, s := range list {
			sum += s.Value
		}
		if err == nil && sum < before+by {
			err = fmt.Errorf("%v, want %v or more", sum, before+by)
		}
		return err
	})
}
