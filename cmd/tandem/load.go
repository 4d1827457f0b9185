package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// loadFlags are the flags of the load command that do not go into sim.LoadConfig as they are.
type loadFlags struct {
	nodes, local           []string
	srv, dns               string
	username, passwordFile string
	ca                     string
	maxFailed              float64
}

func (c *cli) loadCommand() *cobra.Command {
	var f loadFlags
	var cfg sim.LoadConfig
	cmd := &cobra.Command{
		Use: "load --node ADDRESS... --to NUMBERS --rate CPS (--calls N | --duration TIME)", Short: "Place calls and report how each ended",
		Long: `Places calls at a constant rate, as a carrier or a PBX would: a node that refuses, is silent or
sends 503 is left for the next one of the list. The report names every call that failed, the node
it went to, and why. Exit code 1 means that more calls failed than --max-failed allows.`,
		Example: `  tandem load --node 192.0.2.10:5060 --node 198.51.100.10:5060 --to +12145550100..+12145550199 --rate 20 --calls 2000
  tandem load --srv sip.example.net --to +12145550100 --rate 20 --duration 10m --avoid 30s
  tandem load --node tls:192.0.2.10:5061 --ca ca.pem --username acme --password-file acme.txt --to +13105550123 --rate 1 --duration 1m`,
		Args: arguments(),
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			if err := f.apply(cmd.Context(), &cfg); err != nil {
				return err
			}
			return c.load(cmd.Context(), cfg, f.maxFailed)
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.nodes, "node", nil, "node to call, [udp:|tcp:|tls:]ip:port; give several in the order in which they are tried")
	flags.StringVar(&f.srv, "srv", "", "in place of --node: [udp:|tcp:|tls:]name whose SRV records list the nodes, by priority and weight")
	flags.StringVar(&f.dns, "dns", "", "ip:port of the name server to ask; that of the system unless given")
	flags.StringSliceVar(&f.local, "local", nil, "own address, ip:port; port 0 is any")
	flags.StringSliceVar(&cfg.To, "to", nil, "called numbers and ranges")
	flags.StringSliceVar(&cfg.From, "from", nil, "calling numbers and ranges")
	flags.Float64Var(&cfg.Rate, "rate", 1, "calls per second")
	flags.IntVar(&cfg.Calls, "calls", 0, "number of calls")
	flags.DurationVar(&cfg.Duration, "duration", 0, "how long calls are begun")
	flags.IntVar(&cfg.MaxActive, "max-active", 0, "calls at one time; more are skipped")
	flags.DurationVar(&cfg.Hold, "hold", 2*time.Second, "answer to BYE")
	flags.DurationVar(&cfg.HoldMax, "hold-max", 0, "when above --hold: drawn between the two")
	flags.Float64Var(&cfg.Cancel, "cancel", 0, "share of calls, 0 to 1, that the caller gives up")
	flags.DurationVar(&cfg.Within, "cancel-within", time.Second, "latest moment of giving up")
	flags.Float64Var(&cfg.NoOffer, "no-offer", 0, "share of calls, 0 to 1, without SDP in the INVITE")
	flags.BoolVar(&cfg.Spread, "spread", false, "begin each call at the next node")
	flags.DurationVar(&cfg.Avoid, "avoid", 0, "how long a node that failed is tried last")
	flags.DurationVar(&cfg.NodeTimeout, "node-timeout", 0, "silence after which the next node is asked (64*T1)")
	flags.DurationVar(&cfg.SetupTimeout, "setup-timeout", 0, "longest wait for an answer (2m)")
	flags.BoolVar(&cfg.Stay, "stay", false, "take a 503 as the end of the call")
	flags.Uint64Var(&cfg.Seed, "seed", 0, "repeats a run; 0 draws one and prints it")
	flags.StringVar(&f.username, "username", "", "digest user")
	flags.StringVar(&f.passwordFile, "password-file", "", "file that holds the user's password")
	flags.StringVar(&f.ca, "ca", "", "PEM file of the authorities of the nodes' certificates; those of the system unless given")
	flags.Float64Var(&f.maxFailed, "max-failed", 0, "share of calls, 0 to 1, that may fail")
	return cmd
}

// apply turns words into what the load program wants.
func (f *loadFlags) apply(ctx context.Context, cfg *sim.LoadConfig) error {
	if (len(f.nodes) == 0) == (f.srv == "") || len(cfg.To) == 0 {
		return usage("tandem load --help shows examples", "--to is needed, and --node or --srv")
	}
	if cfg.Calls < 0 || cfg.Duration < 0 || cfg.MaxActive < 0 {
		return usage("tandem load --help shows examples", "--calls, --duration and --max-active are not below zero")
	}
	if cfg.Calls == 0 && cfg.Duration == 0 {
		return usage("for example --calls 20, or --duration 1m", "--calls or --duration is needed")
	}
	for flag, share := range map[string]float64{"cancel": cfg.Cancel, "no-offer": cfg.NoOffer, "max-failed": f.maxFailed} {
		if share < 0 || share > 1 {
			return usage("0.1 is one in ten", "--%s is a share between 0 and 1, not %g", flag, share)
		}
	}
	if f.srv != "" {
		nodes, err := lookUp(ctx, f.srv, f.dns)
		if err != nil {
			return err
		}
		cfg.Nodes, cfg.SRV = nodes, true
		if nodes[0].Transport == trunkgroup.TLS {
			cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	for _, text := range f.nodes {
		transport, addr, err := parseHop(text)
		if err != nil {
			return err
		}
		if transport == trunkgroup.TLS {
			cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		cfg.Nodes = append(cfg.Nodes, sim.Node{Name: text, Addr: addr, Transport: transport})
	}
	for _, text := range f.local {
		addr, err := netip.ParseAddrPort(text)
		if err != nil {
			return usage("write ip:port", "%q is not an address with port", text)
		}
		cfg.Local = append(cfg.Local, addr)
	}
	if f.username != "" {
		password, err := os.ReadFile(f.passwordFile)
		if err != nil {
			return fmt.Errorf("password: %w", err)
		}
		cfg.Credentials = &sim.Credentials{Username: f.username, Password: strings.TrimRight(string(password), "\r\n")}
	}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return fmt.Errorf("authorities: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return fail(exitFailed, "", "%s holds no certificate in PEM", f.ca)
		}
		cfg.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return nil
}

// parseHop reads [transport:]ip:port.
func parseHop(text string) (trunkgroup.Transport, netip.AddrPort, error) {
	transport, rest := trunkgroup.UDP, text
	if name, after, ok := strings.Cut(text, ":"); ok {
		if t, err := trunkgroup.ParseTransport(name); err == nil && t.Dialled() {
			transport, rest = t, after
		}
	}
	addr, err := netip.ParseAddrPort(rest)
	if err != nil {
		return 0, addr, usage("for example udp:192.0.2.10:5060 or tls:[2001:db8::10]:5061", "%q is not [transport:]ip:port", text)
	}
	return transport, addr, nil
}

// load runs the program and prints its report. An interrupted run reports as well.
func (c *cli) load(ctx context.Context, cfg sim.LoadConfig, maxFailed float64) error {
	load, err := sim.NewLoad(cfg)
	if err != nil {
		return err
	}
	report, interrupted := load.Run(ctx)
	if c.output == "json" {
		err = c.print(report, nil)
	} else {
		err = report.WriteText(c.out)
	}
	if err := errors.Join(err, load.Close()); err != nil {
		return err
	}
	switch share := report.FailedShare(); {
	case interrupted != nil:
		return fail(exitFailed, "", "interrupted")
	case share > maxFailed:
		return fail(exitFailed, "--max-failed 0.01 would allow one in a hundred", "%.3g %% of the calls failed, were skipped or did not end, and %.3g %% may", 100*share, 100*maxFailed)
	}
	return nil
}
