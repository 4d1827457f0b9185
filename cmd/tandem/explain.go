package main

import (
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/monitor/admin"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// asked are the flags that describe a call.
type asked struct {
	admin.Question
	turn uint64
}

// explainCommand is tandem explain, and tandem route explain.
func (c *cli) explainCommand() *cobra.Command {
	var q asked
	var at string
	var allSites bool
	cmd := &cobra.Command{
		Use: "explain [NUMBER|AOR]", Short: "Say what would be decided for a call, and why",
		Long: `Says who a caller would be, which group the call goes to, in which order its members would be tried,
under which timers and causes, and what the caller gets when all of them fail: by the same functions
that decide calls, with what the asked node knows now, or with --at by another revision and with
--assume in another state of things. No call is placed. A customer may also reach one of its own
registered PBXs by its address of record.`,
		Example: "  tandem route explain --called +12145550100 --from 203.0.113.10:5060/udp\n" +
			"  tandem explain 0114420555501 --username acme --realm sip.example.net --site ashburn\n" +
			"  tandem explain +12145550100 --from 203.0.113.10:5060 --assume acme-in/pbx-1=down --at 1.41",
		Args: cobra.MaximumNArgs(1),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			if err := q.complete(cmd, args); err != nil {
				return err
			}
			if at != "" {
				n, err := parseRevision(at)
				if err != nil {
					return err
				}
				q.At = n
			}
			var e admin.Explanation
			if err := c.post(cmd, "/v1/explain", &q.Question, &e); err != nil {
				return err
			}
			if c.output == "json" {
				return c.print(e, nil)
			}
			return c.printExplanationOf(&e, allSites)
		}),
	}
	q.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&q.Site, "site", "", "site where it enters; the asked node's unless given")
	flags.StringVar(&q.Affinity, "affinity", "", "value of the header by which the group keeps calls together")
	flags.StringVar(&at, "at", "", "a revision of the configuration log, such as 1.7; the one in force unless given")
	flags.BoolVar(&q.Ask, "ask", false, "ask the plan's decision server now, in place of what is kept of its answers")
	flags.StringArrayVar(&q.Assume, "assume", nil, "GROUP/MEMBER=down|active|draining|disabled|weight=N, or site:SITE=down; more than once")
	flags.Uint64Var(&q.turn, "turn", 0, "whose turn it is; the node's next one unless given")
	flags.Uint64Var(&q.Chance, "chance", 0, "seed of what a method leaves to chance")
	flags.BoolVar(&allSites, "all-sites", false, "print the order of every site")
	return cmd
}

// register adds the flags that say who calls whom.
func (q *asked) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&q.Called, "called", "", "number or user of the Request-URI, or sip:user@host")
	flags.StringVar(&q.Source, "from", "", "where the call comes from, ip:port or ip:port/transport")
	flags.StringVar(&q.Transport, "transport", "udp", "udp, tcp, tls, ws or wss")
	flags.StringVar(&q.Local, "local", "", "address of ours that receives it, ip:port")
	flags.StringVar(&q.Username, "username", "", "digest user, taken as proven")
	flags.StringVar(&q.Realm, "realm", "", "realm of the user; unless given that of the called host, else sip.realm of the asked node")
	flags.StringVar(&q.Caller, "caller", "", "number of the caller's From")
	flags.StringVar(&q.CallID, "call-id", "", "Call-ID, for methods that hash it")
	flags.StringVar(&q.RequestURI, "request-uri", "", "the whole Request-URI, in place of the called number")
	flags.StringArrayVar(&q.Headers, "header", nil, "a further header, 'NAME: VALUE'; more than once")
}

// complete checks what can be checked here.
func (q *asked) complete(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		if q.Called != "" {
			return usage("name the number once", "both an argument and --called are there")
		}
		q.Called = args[0]
	}
	if q.Called == "" && q.RequestURI == "" {
		return usage("for example --called +12145550100", "the called number is missing")
	}
	if q.Source == "" && q.Username == "" {
		return usage("for example --from 203.0.113.10:5060", "--from or --username is needed")
	}
	if address, transport, ok := strings.Cut(q.Source, "/"); ok {
		q.Source, q.Transport = address, transport
	}
	if _, err := trunkgroup.ParseTransport(q.Transport); err != nil {
		return usage("write --transport udp, tcp, tls, ws or wss", "%w", err)
	}
	for _, f := range [...][2]string{{"from", q.Source}, {"local", q.Local}} {
		if _, err := netip.ParseAddrPort(f[1]); err != nil && f[1] != "" {
			return usage("for example --"+f[0]+" 203.0.113.10:5060", "--%s wants ip:port, not %q", f[0], f[1])
		}
	}
	for _, text := range q.Assume {
		if _, err := trunkgroup.ParseAssumption(text); err != nil {
			return usage("for example --assume carrier-a/gw-1=down", "--assume: %w", err)
		}
	}
	if f := cmd.Flags().Lookup("turn"); f != nil && f.Changed {
		q.Turn = &q.turn
	}
	return nil
}
