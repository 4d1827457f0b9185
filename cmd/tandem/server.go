package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/internal/app"
	"github.com/tandem-sbc/tandem/internal/config"
	"github.com/tandem-sbc/tandem/internal/sdnotify"
)

// stopTimeout bounds a clean end.
const stopTimeout = 15 * time.Second

func (c *cli) serverCommand() *cobra.Command {
	var file string
	var witness, check bool
	cmd := &cobra.Command{
		Use: "server --config FILE", Short: "Run a node",
		Long: `Runs one node of the cluster in the foreground. SIGTERM drains it and ends it when no call is left; a
second one, and SIGINT at once, ends what calls are left. Logs go to standard error. Each
key of the node file can also be given by the environment: cluster.key_file is TANDEM_CLUSTER_KEY_FILE.`,
		Example: "  tandem server --config /etc/tandem/node.yaml\n  tandem server --config node.yaml --check",
		Args:    arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			var overrides []config.Override
			if cmd.Flags().Changed("witness") {
				overrides = append(overrides, config.Override{Key: "witness", Value: witness})
			}
			cfg, err := config.Load(file, overrides...)
			if err != nil {
				return unstarted(err)
			}
			if check {
				if _, err := app.Initial(cfg); err != nil {
					return unstarted(err)
				}
				if err := app.CheckKeys(cfg); err != nil {
					return unstarted(err)
				}
				_, err = fmt.Fprintf(c.out, "%s: ok, node %s of site %s\n", file, cfg.Name, cfg.Site)
				return err
			}
			return c.serve(cmd.Context(), cfg)
		}),
	}
	cmd.Flags().StringVarP(&file, "config", "c", "/etc/tandem/node.yaml", "the node file")
	cmd.Flags().BoolVar(&witness, "witness", false, "vote in the cluster and carry no calls")
	cmd.Flags().BoolVar(&check, "check", false, "check the node file, and the document that it names, and end")
	return cmd
}

// unstarted adds the next step to the error of a node that could not start.
func unstarted(err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint = "another process has this address; `ss -lntup` shows which"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = "no interface of this machine has this address; `ip address` lists them"
	case errors.Is(err, fs.ErrPermission):
		hint = "run it as a user who may; ports below 1024 need root or CAP_NET_BIND_SERVICE"
	case errors.Is(err, fs.ErrNotExist):
		hint = "configs/node.example.yaml is a whole node file, and docs/configuration.md says what each path in it is for"
	}
	return &failure{code: exitFailed, hint: hint, err: err}
}

// serve runs a node until ctx ends.
func (c *cli) serve(ctx context.Context, cfg *config.Config) error {
	options := &slog.HandlerOptions{Level: cfg.Log.Level}
	var handler slog.Handler = slog.NewTextHandler(c.err, options)
	if cfg.Log.JSON {
		handler = slog.NewJSONHandler(c.err, options)
	}
	log := slog.New(handler)
	manager, err := sdnotify.Find(c.env, os.Getpid())
	if err != nil {
		return unstarted(err)
	}
	node, err := app.New(ctx, cfg, version, log)
	if err != nil {
		return unstarted(err)
	}
	defer onHangup(func() { reload(manager, node, log) })()
	err = node.Start()
	if err == nil {
		told := tell(manager, node, log)
		err = untilEnd(ctx, node)
		told()
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if stopErr := node.Stop(end); stopErr != nil && err == nil {
		err = fmt.Errorf("the node did not end cleanly: %w", stopErr)
	}
	return err
}
