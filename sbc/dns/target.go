package dns

import (
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/trunkgroup"
)

// Target is what is looked up for a member. It is comparable and serves as the key of a lookup: members that name the same host share one.
type Target struct {
	Name      string // a host name, or an IP literal
	Port      uint16 // 0: SRV decides, else the transport's default
	Transport trunkgroup.Transport
}

// String is the target as in logs.
func (t Target) String() string {
	if t.Port != 0 {
		return net.JoinHostPort(t.Name, strconv.Itoa(int(t.Port))) + "/" + t.Transport.String()
	}
	return t.Name + "/" + t.Transport.String()
}

// service is the SRV owner name of RFC 3263 section 4.1.
func (t Target) service() string {
	name := strings.TrimSuffix(t.Name, ".") + "."
	switch t.Transport {
	case trunkgroup.UDP:
		return "_sip._udp." + name
	case trunkgroup.TLS:
		return "_sips._tcp." + name
	default:
		return "_sip._tcp." + name
	}
}

// srv is one SRV record, or the stand-in for a name that has none.
type srv struct {
	host             string
	port             uint16
	priority, weight uint16
}

// orderSRV sorts by priority and draws the order inside a priority by weight, as RFC 2782 describes: the chance to come first is
// proportional to the weight, and weight 0 keeps a small chance.
func orderSRV(records []srv, random *rand.Rand) {
	slices.SortStableFunc(records, func(a, b srv) int { return int(a.priority) - int(b.priority) })
	for i := 0; i < len(records); {
		end := i
		for end < len(records) && records[end].priority == records[i].priority {
			end++
		}
		for ; i < end; i++ {
			total := 0
			for _, r := range records[i:end] {
				total += int(r.weight)*100 + 1
			}
			draw := random.IntN(total)
			for j := i; j < end; j++ {
				if draw -= int(records[j].weight)*100 + 1; draw < 0 {
					records[i], records[j] = records[j], records[i]
					break
				}
			}
		}
	}
}
