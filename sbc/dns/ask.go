package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// errAbsent says that the name has no record of the type: the servers answered, and there is none.
var errAbsent = errors.New("no such record")

// errNoAddress says that everything was answered and no address came of it.
var errNoAddress = errors.New("the name has no address")

// question is one query.
type question struct {
	name  string // fully qualified, lower case
	qtype uint16
}

func (q question) String() string { return dns.TypeToString[q.qtype] + " " + q.name }

// answer is what a question brought.
type answer struct {
	records []dns.RR // of the asked type only; a CNAME chain is followed by the server
	ttl     time.Duration
}

func joinPort(host, port string) string { return net.JoinHostPort(host, port) }

// ask puts one question to the servers in turn and returns the first answer. A truncated one is fetched over TCP (RFC 7766 section 5).
func (r *Resolver) ask(ctx context.Context, q question) (answer, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	servers, err := r.cfg.servers()
	if err != nil {
		return answer{}, err
	}
	var failures []error
	for _, server := range servers {
		reply, err := r.exchange(ctx, q, server)
		if err == nil {
			return readReply(reply, q)
		}
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		failures = append(failures, fmt.Errorf("server %s: %w", server, err))
	}
	return answer{}, fmt.Errorf("%v: %w", q, errors.Join(failures...))
}

// exchange asks one server. Any answer but NOERROR and NXDOMAIN is an error, so that the next server is asked.
func (r *Resolver) exchange(ctx context.Context, q question, server string) (*dns.Msg, error) {
	query := new(dns.Msg)
	query.SetQuestion(q.name, q.qtype)
	query.SetEdns0(1232, false)
	client := dns.Client{Timeout: r.cfg.Timeout}
	reply, _, err := client.ExchangeContext(ctx, query, server)
	if err == nil && reply.Truncated {
		client.Net = "tcp"
		reply, _, err = client.ExchangeContext(ctx, query, server)
	}
	if err != nil {
		return nil, err
	}
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("answered %s", dns.RcodeToString[reply.Rcode])
	}
	return reply, nil
}

// readReply picks the records of the asked type and the least TTL of all that led to them.
func readReply(reply *dns.Msg, q question) (answer, error) {
	a := answer{ttl: -1}
	for _, rr := range reply.Answer {
		ttl := time.Duration(rr.Header().Ttl) * time.Second
		switch rr.Header().Rrtype {
		case q.qtype:
			a.records = append(a.records, rr)
		case dns.TypeCNAME:
		default:
			continue
		}
		if a.ttl < 0 || ttl < a.ttl {
			a.ttl = ttl
		}
	}
	if len(a.records) > 0 {
		return a, nil
	}
	// A negative answer lives as long as its SOA says (RFC 2308 section 5).
	a.ttl = 0
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			a.ttl = time.Duration(min(soa.Minttl, soa.Hdr.Ttl)) * time.Second
		}
	}
	return a, errAbsent
}

func fqdn(name string) string { return dns.Fqdn(strings.ToLower(name)) }
