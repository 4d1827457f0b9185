package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/tandem-sbc/tandem/sbc/sim"
	"github.com/tandem-sbc/tandem/trunkgroup"
)

// unregisterPatience is how long a far end waits for its last REGISTER's answer.
const unregisterPatience = 2 * time.Second

// registerFlags are those of a far end that registers.
type registerFlags struct {
	aor, node, user, realm string
	expires                time.Duration
}

func (f *registerFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.aor, "register", "", "address of record to register as, sip:user@host")
	cmd.Flags().StringVar(&f.node, "node", "", "ip:port of the node to register at, with --register")
	cmd.Flags().StringVar(&f.user, "user", "", "digest user; the AOR's user unless given")
	cmd.Flags().StringVar(&f.realm, "realm", "", "realm of the challenge; the AOR's host unless given")
	cmd.Flags().DurationVar(&f.expires, "expires", time.Minute, "expiry to ask for")
}

// config reads the flags and the password; nil without --register.
func (f *registerFlags) config(c *cli) (*sim.RegisterConfig, error) {
	if f.aor == "" {
		return nil, nil
	}
	aor, user, host, err := trunkgroup.ParseAOR(f.aor)
	if err != nil {
		return nil, usage("write it like sip:acme@sip.example.net", "--register %q %w", f.aor, err)
	}
	_, node, err := parseHop(f.node)
	if err != nil {
		return nil, usage("for example --node 192.0.2.10:5060", "--node: %w", err)
	}
	if f.expires < time.Second {
		return nil, usage("for example --expires 1m", "--expires is too short")
	}
	password, err := c.password()
	if err != nil {
		return nil, err
	}
	h := hashed(cmp.Or(f.user, user), cmp.Or(f.realm, host), password)
	return &sim.RegisterConfig{
		Node: node,
		Account: trunkgroup.Account{
			AOR: aor, User: user, Host: host, Username: h.Username, Realm: h.Realm,
			HA1MD5: h.MD5, HA1SHA256: h.SHA256, HA1SHA512256: h.SHA512, Register: true, Expires: f.expires,
		},
		Told: func(state, reason string) {
			if reason != "" {
				reason = ": " + reason
			}
			fmt.Fprintf(c.err, "%s %s%s\n", aor, state, reason)
		},
	}, nil
}
