package pki

import (
	"crypto/x509"
	"fmt"
	"strings"
)

// suffix ends the DNS names of nodes. The domain internal is reserved for private use,
// so no public authority issues a certificate for it.
const suffix = ".tandem.internal"

// Name is the DNS name in the certificate of a node.
func Name(cluster, node string) string { return node + "." + cluster + suffix }

// Holder reads cluster and node from a certificate. It fails on one that does not hold
// exactly one name of a node.
func Holder(c *x509.Certificate) (cluster, node string, err error) {
	for _, n := range c.DNSNames {
		rest, ours := strings.CutSuffix(strings.ToLower(n), suffix)
		if !ours {
			continue
		}
		first, second, two := strings.Cut(rest, ".")
		if !two || first == "" || second == "" || strings.ContainsAny(second, ".*") || first == "*" {
			return "", "", fmt.Errorf("%w: %q is not NODE.CLUSTER%s", ErrName, n, suffix)
		}
		if node != "" {
			return "", "", fmt.Errorf("%w: it names more than one node", ErrName)
		}
		node, cluster = first, second
	}
	if node == "" {
		return "", "", fmt.Errorf("%w: it has no DNS name NODE.CLUSTER%s", ErrName, suffix)
	}
	return cluster, node, nil
}
