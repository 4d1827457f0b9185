package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release describes the build.
type release struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (c *cli) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: arguments(),
		RunE: action(func(*cobra.Command, []string) error {
			r := build()
			return c.print(r, func() *table {
				t := &table{head: []string{"VERSION", "REVISION", "GO", "PLATFORM"}}
				t.add(r.Version, r.Revision, r.Go, r.Platform)
				return t
			})
		}),
	}
}

func build() release {
	r := release{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				r.Revision = s.Value
			}
		}
	}
	return r
}
