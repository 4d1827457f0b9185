package tandem

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// askLimit bounds one request to a node: a hung admin API must fail a test, not
// hang it.
const askLimit = 5 * time.Second

// Get asks the address that Prometheus and load balancers ask, and returns
// status and body.
func (n *Node) Get(path string) (int, string, error) { return n.ask(path, askLimit) }

func (n *Node) ask(path string, limit time.Duration) (int, string, error) {
	return n.get(path, limit, func(ctx context.Context) (c net.Conn, err error) {
		err = n.cluster.Lab.Namespace(n.Place).Do(func() error {
			c, err = (&net.Dialer{}).DialContext(ctx, "tcp", n.at(portMetrics))
			return err
		})
		return c, err
	})
}

// Members asks the admin API for the state of every member, by "group/member",
// as this node believes it to be. Polls ask it here and not by the command, whose
// start takes longer than the answer.
func (n *Node) Members() (map[string]string, error) {
	status, body, err := n.get("/v1/members", askLimit, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", n.socket)
	})
	if err != nil {
		return nil, err
	}
	var list struct {
		Members []struct {
			Group string `json:"group"`
			ID    string `json:"id"`
			State string `json:"state"`
		} `json:"members"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("node %s: members: status %d, %w: %s", n.Name, status, err, body)
	}
	states := map[string]string{}
	for _, m := range list.Members {
		states[m.Group+"/"+m.ID] = m.State
	}
	return states, nil
}

func (n *Node) get(path string, limit time.Duration, dial func(context.Context) (net.Conn, error)) (int, string, error) {
	client := &http.Client{Timeout: limit, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://node"+path, nil)
	if err != nil {
		return 0, "", fmt.Errorf("node %s: %w", n.Name, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", fmt.Errorf("node %s: %w", n.Name, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, "", fmt.Errorf("node %s: %s: %w", n.Name, path, err)
	}
	return resp.StatusCode, string(body), nil
}

// Ready asks the node whether it takes calls; the error says why not.
func (n *Node) Ready() error { return n.ReadyWithin(askLimit) }

// ReadyWithin is Ready with a limit of its own, as a load balancer asks.
func (n *Node) ReadyWithin(limit time.Duration) error {
	status, body, err := n.ask("/readyz", limit)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("node %s is not ready: %d %s", n.Name, status, strings.TrimSpace(body))
	}
	return err
}

// Sample is one value of a metrics page.
type Sample struct {
	Name   string
	Labels map[string]string
	Value  float64
}

// Metrics is a metrics page.
type Metrics []Sample

// Metrics reads the node's metrics page.
func (n *Node) Metrics() (Metrics, error) {
	status, body, err := n.Get("/metrics")
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("node %s: metrics: status %d", n.Name, status)
	}
	return ParseMetrics(body)
}

// ParseMetrics reads the text format of a metrics page.
func ParseMetrics(text string) (Metrics, error) {
	var list Metrics
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		s, err := sample(line)
		if err != nil {
			return nil, fmt.Errorf("metrics line %q: %w", line, err)
		}
		list = append(list, s)
	}
	return list, lines.Err()
}

func sample(line string) (Sample, error) {
	s := Sample{Labels: map[string]string{}}
	at := strings.IndexAny(line, "{ ")
	if at < 0 {
		return s, fmt.Errorf("no value")
	}
	s.Name, line = line[:at], line[at:]
	for line[0] == '{' || line[0] == ',' {
		line = line[1:]
		name, rest, found := strings.Cut(line, "=")
		quoted, err := strconv.QuotedPrefix(rest)
		if !found || err != nil {
			return s, fmt.Errorf("bad label")
		}
		if s.Labels[name], err = strconv.Unquote(quoted); err != nil {
			return s, fmt.Errorf("bad label: %w", err)
		}
		if line = rest[len(quoted):]; line == "" {
			return s, fmt.Errorf("no value")
		}
	}
	value, _, _ := strings.Cut(strings.TrimLeft(line, "} "), " ")
	var err error
	s.Value, err = strconv.ParseFloat(value, 64)
	return s, err
}

// Sum adds the values of all samples of a name whose labels include the given
// ones, written name=value.
func (m Metrics) Sum(name string, labels ...string) float64 {
	var sum float64
	for _, s := range m {
		if s.Name == name && s.matches(labels) {
			sum += s.Value
		}
	}
	return sum
}

func (s Sample) matches(labels []string) bool {
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		if s.Labels[name] != value {
			return false
		}
	}
	return true
}
