package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tandem-sbc/tandem/tools/dashboards/queries"
)

const written = "../../configs/grafana"

// TestDashboardsAreGenerated: what is committed is what the code makes, and nothing else is there.
func TestDashboardsAreGenerated(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(written, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the code makes: make dashboards", name)
		}
	}
	list, err := filepath.Glob(filepath.Join(written, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if files[filepath.Base(f)] == nil {
			t.Errorf("no code makes %s", f)
		}
	}
}

// panel is what the tests read of a dashboard.
type panel struct {
	Title   string
	GridPos struct{ X, Y, W, H int }
	Targets []struct{ Expr, LegendFormat string }
}

var labelValues = regexp.MustCompile(`^label_values\((.+), ([a-z_]+)\)$`)

// TestDashboardsAskForWhatThereIs: every query parses and asks for metrics and labels that nodes have, every legend and
// variable names labels that the series have, and every variable that a query uses is one of the dashboard.
func TestDashboardsAskForWhatThereIs(t *testing.T) {
	c := catalogue(t)
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		var d struct {
			Panels     []panel
			Templating struct {
				List []struct {
					Name  string
					Query any
				}
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{"$__rate_interval": true}
		for _, v := range d.Templating.List {
			known["$"+v.Name] = true
			q, _ := v.Query.(string)
			m := labelValues.FindStringSubmatch(q)
			if m == nil {
				if v.Name != "datasource" {
					t.Errorf("%s: variable %s asks %v", name, v.Name, v.Query)
				}
				continue
			}
			have, err := c.Check(m[1])
			if err == nil {
				err = queries.CheckText("{{"+m[2]+"}}", have)
			}
			if err != nil {
				t.Errorf("%s: variable %s: %v", name, v.Name, err)
			}
		}
		asked := 0
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				asked++
				have, err := c.Check(q.Expr)
				if err == nil {
					err = queries.CheckText(q.LegendFormat, have)
				}
				if err != nil {
					t.Errorf("%s: %s: %v", name, p.Title, err)
				}
				for _, v := range regexp.MustCompile(`\$[a-z_]+`).FindAllString(q.Expr, -1) {
					if !known[v] {
						t.Errorf("%s: %s: no variable %s", name, p.Title, v)
					}
				}
				if !strings.Contains(q.Expr, "$cluster") && !strings.HasPrefix(q.Expr, "ALERTS") && !strings.HasPrefix(q.Expr, "count(ALERTS") {
					t.Errorf("%s: %s mixes clusters: %s", name, p.Title, q.Expr)
				}
			}
		}
		if asked < 10 {
			t.Errorf("%s asks %d queries: its form has changed, and this test with it", name, asked)
		}
	}
}

// TestPanelsDoNotOverlap: the layout is made by spans; a panel that does not fit its row would be laid over another one.
func TestPanelsDoNotOverlap(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		var d struct{ Panels []panel }
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		taken := map[[2]int]string{}
		for _, p := range d.Panels {
			g := p.GridPos
			if g.W == 0 || g.H == 0 || g.X+g.W > 24 {
				t.Errorf("%s: %s is at %+v", name, p.Title, g)
			}
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s: %s lies over %s", name, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}
