//go:build e2e

package e2e

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/tandem-sbc/tandem/lab"
)

// Hosts of the shared cluster's far ends, in the network of their place.
const (
	acme1, acme2   = 10, 11 // PBXs of acme-in, monitored
	beta1, beta2   = 20, 21 // PBXs of beta-in, unmonitored
	gammaHost      = 22     // the one PBX of gamma-in in each site, unmonitored
	transportPBX   = 23     // PBX of the groups by transport and family
	delta1, delta2 = 26, 27 // PBXs of delta-in, unmonitored, always tried in this order
	edgeHost       = 24     // Kamailio in front of the PBX of tls-in
	phoneHost      = 25     // baresip
	srv1, srv2     = 28, 29 // PBXs of srv-in, by name
	nameHost       = 45     // the name server, outside
	acmeUDP        = 30     // acme-out by source IP and port
	acmeTCP        = 31     // acme-out by source IP over TCP
	acmeTLS        = 32     // acme-out by source IP over TLS

	carrierA, carrierB = 10, 11 // gateways, monitored
	pstnHost           = 40     // callers from the PSTN
)

// Numbers of the shared cluster's customers.
const (
	acmeNumber  = "+12145550100"
	betaNumber  = "+12145550200"
	gammaNumber = "+12145550300"
	deltaNumber = "+12145550500"
	tcpNumber   = "+12145550400"
	sixNumber   = "+12145550410"
	sixTCP      = "+12145550420"
	tlsNumber   = "+12145550430"
	sixTLS      = "+12145550440"
	phoneNumber = "+12145550450"
	srvNumber   = "+12145550460"
	adaNumber   = "+12145550470"
	benNumber   = "+12145550471"
	pstnNumber  = "+12025550123" // a number in the PSTN, for outbound calls
)

// quick is the peeredge profile with its times made short: a dead member is
// known within 1 s + 3 x 300 ms, a living one again after two good answers.
const quick = "{profile: peeredge, interval: 1s, down_interval: 500ms, timeout: 300ms}"

// document is the shared cluster's document. An address is written
// <place.host:port>, with 6 behind the host for IPv6.
const document = `
cluster: main
sites:
  - {name: dallas, peers: [ashburn]}
  - {name: ashburn, peers: [dallas]}
customers: [{name: web}, {name: rooms}]
trunk_groups:
  - name: acme-in
    role: origination-customer
    numbers: ["+1214555010*"]
    monitoring: @quick@
    timers: {ring: 10s}
    members:
      - {id: dal-1, site: dallas, address: "<pbx-dallas.10:5060>"}
      - {id: dal-2, site: dallas, address: "<pbx-dallas.11:5060>"}
      - {id: ash-1, site: ashburn, address: "<pbx-ashburn.10:5060>"}
      - {id: ash-2, site: ashburn, address: "<pbx-ashburn.11:5060>"}
  - name: beta-in
    role: origination-customer
    numbers: ["+1214555020*"]
    timers: {b_timer: 1s}
    members:
      - {id: dal-1, site: dallas, address: "<pbx-dallas.20:5060>"}
      - {id: dal-2, site: dallas, address: "<pbx-dallas.21:5060>"}
      - {id: ash-1, site: ashburn, address: "<pbx-ashburn.20:5060>"}
      - {id: ash-2, site: ashburn, address: "<pbx-ashburn.21:5060>"}
  - name: gamma-in
    role: origination-customer
    numbers: ["+1214555030*"]
    members:
      - {id: dal-1, site: dallas, address: "<pbx-dallas.22:5060>"}
      - {id: ash-1, site: ashburn, address: "<pbx-ashburn.22:5060>"}
  - name: delta-in
    role: origination-customer
    numbers: ["+1214555050*", "+1202555*"]
    distribution: {method: failover}
    timers: {b_timer: 1s, progress: 2s, ring: 3s}
    members:
      - {id: dal-1, site: dallas, address: "<pbx-dallas.26:5060>", priority: 1}
      - {id: dal-2, site: dallas, address: "<pbx-dallas.27:5060>", priority: 2}
  - name: tcp-in
    role: origination-customer
    numbers: ["+12145550400"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.23:5060>", transport: tcp}]
  - name: six-in
    role: origination-customer
    numbers: ["+12145550410"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.23.6:5060>"}]
  - name: six-tcp-in
    role: origination-customer
    numbers: ["+12145550420"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.23.6:5060>", transport: tcp}]
  - name: tls-in
    role: origination-customer
    numbers: ["+12145550430"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.24:5061>", transport: tls, server_name: edge-four}]
  - name: six-tls-in
    role: origination-customer
    numbers: ["+12145550440"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.24.6:5061>", transport: tls, server_name: edge-six}]
  - name: phone-in
    role: origination-customer
    numbers: ["+12145550450"]
    members: [{id: dal-1, site: dallas, address: "<pbx-dallas.25:5061>", transport: tls, server_name: baresip-dallas}]
  - name: srv-in
    role: origination-customer
    numbers: ["+12145550460"]
    distribution: {method: failover}
    timers: {b_timer: 1s}
    members: [{id: by-name, site: dallas, fqdn: pbx.example.net}]

  - name: acme-out
    role: termination-customer
    sources:
      - {ip: <pbx-dallas.30>, port: 5060}
      - {ip: <pbx-dallas.31>, transport: tcp}
      - {ip: <pbx-dallas.32>, transport: tls}
    route_plan: all
    numbering: {country_code: "1"}
  - name: delta-out
    role: termination-customer
    credentials:
      - {username: @user@, realm: @realm@, ha1_sha256: @sha256@, ha1_md5: @md5@}
    route_plan: all
    numbering: {country_code: "1"}

  - name: web-out
    role: termination-customer
    customer: web
    credentials:
      - {username: ada, realm: web.example.net, ha1_md5: @ada@}
      - {username: ben, realm: web.example.net, ha1_md5: @ben@}
    route_plan: all
    numbering: {country_code: "1"}
  - name: ada-in
    role: origination-customer
    customer: web
    numbers: ["+12145550470"]
    members: [{id: browser, registration: {aor: "sip:ada@web.example.net"}}]
  - name: ben-in
    role: origination-customer
    customer: web
    numbers: ["+12145550471"]
    members: [{id: browser, registration: {aor: "sip:ben@web.example.net"}}]
@registered@
  - name: carrier-a
    role: pstn-provider
    monitoring: @quick@
    members:
      - {id: dal, site: dallas, address: "<carrier-dallas.10:5060>"}
      - {id: ash, site: ashburn, address: "<carrier-ashburn.10:5060>"}
  - name: carrier-b
    role: pstn-provider
    monitoring: @quick@
    members:
      - {id: dal, site: dallas, address: "<carrier-dallas.11:5060>"}
      - {id: ash, site: ashburn, address: "<carrier-ashburn.11:5060>"}
  - name: pstn
    role: pstn-provider
    numbering: {country_code: "1"}
    sources:
      - {ip: <carrier-dallas.40>}
      - {ip: <carrier-dallas.40>, transport: tcp}
      - {ip: <carrier-dallas.40>, transport: tls}
      - {ip: "<carrier-dallas.40.6>"}
      - {ip: "<carrier-dallas.40.6>", transport: tcp}
      - {ip: "<carrier-dallas.40.6>", transport: tls}
      - {ip: <carrier-ashburn.40>}
    members:
      - {id: dal, site: dallas, address: "<carrier-dallas.12:5060>", disabled: true}
route_plans:
  - name: all
    routes: [{prefix: "*", providers: [carrier-a, carrier-b]}]
`

// place matches an address of the laboratory inside a document.
var place = regexp.MustCompile(`<([a-z]+-[a-z]+)\.(\d+)(\.6)?(:\d+)?>`)

// fill puts addresses and credentials into a document.
func fill(text string) string {
	a1 := []byte(digestUser + ":" + digestRealm + ":" + digestPassword)
	web := func(user string) string {
		return fmt.Sprintf("%x", md5.Sum([]byte(user+":web.example.net:"+webPassword)))
	}
	text = strings.NewReplacer(
		"@registered@", registeredGroups()+roomsGroups(), "@quick@", quick, "@user@", digestUser, "@realm@", digestRealm,
		"@sha256@", fmt.Sprintf("%x", sha256.Sum256(a1)), "@md5@", fmt.Sprintf("%x", md5.Sum(a1)),
		"@ada@", web("ada"), "@ben@", web("ben"),
	).Replace(text)
	return place.ReplaceAllStringFunc(text, func(s string) string {
		m := place.FindStringSubmatch(s)
		host, _ := strconv.Atoi(m[2])
		addr := lab.Host4(lab.Place(m[1]), host)
		if m[3] != "" {
			addr = lab.Host6(lab.Place(m[1]), host)
		}
		if m[4] == "" {
			return addr.String()
		}
		port, _ := strconv.ParseUint(m[4][1:], 10, 16)
		return netip.AddrPortFrom(addr, uint16(port)).String()
	})
}
