package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("o", filepath.Join("..", "..", "configs", "grafana"), "where to write the dashboards")
	flag.Parse()
	files, err := render()
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(*dir, name), text, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

// render makes the files of all dashboards, by their names.
func render() (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, b := range map[string]*builder{
		"overview.json": overview(), "site-failover.json": failover(), "trunk-group.json": groups(), "node.json": nodes(),
	} {
		d, err := b.Build()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = append(text, '\n')
	}
	return files, nil
}
