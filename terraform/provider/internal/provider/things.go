package provider

import (
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

var (
	roles      = []string{"origination-customer", "termination-customer", "pstn-provider"}
	transports = []string{"udp", "tcp", "tls"}
	formats    = []string{"e164", "plain", "international", "national", "none"}
)

// pattern is what numbers of a trunk group look like: a number, a block, a range, an expression.
var pattern = regexp.MustCompile(`^(\+[0-9]+(\*|\.\.\+[0-9]+)?|/\^.*\$/)$`)

var limitFields = []field{
	{name: "calls", kind: number, doc: "Calls at one time."},
	{name: "cps", kind: number, doc: "New calls per second."},
}

var member = &thing{
	name: "member", what: "member", list: "members", inside: true,
	doc:  "A far end of a trunk group: a customer's PBX or a carrier's gateway.",
	keys: []string{"id"}, keyDoc: []string{"Unique in its trunk group; group/id names the member everywhere."},
	fields: []field{
		{name: "site", doc: "The site that dials and probes it."},
		{name: "address", doc: "ip:port."},
		{name: "fqdn", doc: "A name in place of an address, with or without port; without one, SRV records give it."},
		{name: "transport", words: transports, doc: "Default udp."},
		{name: "server_name", doc: "TLS: the name in its certificate. Default the fqdn."},
		{name: "registration", kind: object, doc: "It registers, in place of an address.", fields: []field{
			{name: "aor", required: true, doc: "Address of record, sip:user@host."},
			{name: "users", kind: texts, doc: "Digest users that may register it. Default the user of the address of record."},
			{name: "contacts", kind: number, doc: "Most bindings."},
			{name: "min_expires", doc: "Shortest time that is granted."},
			{name: "max_expires", doc: "Longest time that is granted."},
			{name: "nat_expires", doc: "Longest time that is granted by UDP behind a NAT."},
			{name: "bound_ip", kind: texts, doc: "Addresses and networks where it may come from."},
			{name: "request_uri", doc: "What calls name: contact or number."},
		}},
		{name: "weight", kind: number, doc: "Share of calls, with methods that go by weight. Default 1."},
		{name: "priority", kind: number, doc: "Lower numbers come first. Default 0."},
		{name: "last_resort", kind: flag, doc: "Tried after all others."},
		{name: "direction", words: []string{"both", "in", "out"}, doc: "Of a carrier: in calls and is not called, out is called and does not call."},
		{name: "group", doc: "In place of an address and a site: another group of the same role, whose members take this one's place."},
		{name: "disabled", kind: flag, doc: "It gets no calls and no probes."},
		{name: "limits", kind: object, doc: "Limits of this member.", fields: limitFields},
	},
}

var credential = &thing{
	name: "credential", what: "credential", list: "credentials", inside: true, secret: true,
	doc:    "A digest user of a customer's trunk group. The document holds hashes of the password for all three algorithms.",
	keys:   []string{"username", "realm"},
	keyDoc: []string{"User name, as the PBX sends it.", "sip.realm of the node files, or a domain of the customer's own."},
	fields: []field{
		{name: "algorithms", kind: texts, doc: "The only ones of SHA-256, SHA-512-256, MD5 that are taken from this user."},
		{name: "bound_ip", kind: texts, doc: "Addresses and networks where its requests may come from."},
		{name: "ani_override", doc: "The number that its calls show, whatever the user says."},
	},
}

var numberRange = &thing{
	name: "number_range", what: "number", list: "numbers", inside: true, scalar: true,
	doc:    "Called numbers of a customer, in the document. Very many numbers belong into the number table, by tandem number import.",
	keys:   []string{"pattern"},
	keyDoc: []string{"One number +12145550100, a block +1469555*, a range +12145550100..+12145550199, or an expression between slashes."},
	check:  []validator.String{stringvalidator.RegexMatches(pattern, "must be a number +12145550100, a block +1469555*, a range +12145550100..+12145550199, or an expression /^...$/")},
}

var numberPolicy = &thing{
	name: "number_policy", what: "number policy", list: "number_policies",
	doc:  "A way to write numbers towards carriers.",
	keys: []string{"name"}, keyDoc: []string{"Trunk groups of carriers and routes name it."},
	fields: []field{
		{name: "format", words: formats, doc: "Of all places that headers does not name. Default e164."},
		{name: "headers", kind: object, doc: "Format of single places.", fields: []field{
			{name: "request_uri", words: formats, doc: "Request-URI."},
			{name: "from", words: formats, doc: "From."},
			{name: "to", words: formats, doc: "To."},
			{name: "p_asserted_identity", words: formats, doc: "P-Asserted-Identity."},
			{name: "p_preferred_identity", words: formats, doc: "P-Preferred-Identity."},
			{name: "remote_party_id", words: formats, doc: "Remote-Party-ID."},
		}},
		{name: "numbering", kind: object, doc: "How the carrier's country writes numbers.", fields: []field{
			{name: "country_code", doc: "Such as 1."},
			{name: "trunk_prefix", doc: "Digits before a national number."},
			{name: "international_prefix", doc: "Digits before a country code."},
			{name: "min_national_digits", kind: number, doc: "Behind the trunk prefix."},
		}},
		{name: "preserve", kind: texts, doc: "Numbers that pass as they are: 911, 0800*."},
		{name: "on_unparseable", words: []string{"keep", "strip"}, doc: "What becomes of numbers that cannot be read. Default keep."},
		{name: "diversion", kind: object, doc: "What becomes of Diversion.", fields: []field{
			{name: "format", words: formats, doc: "Format of its numbers."}, {name: "respect_privacy", kind: flag, doc: "Keeps numbers back whose entry asks for it."},
		}},
	},
}

var routePlan = &thing{
	name: "route_plan", what: "route plan", list: "route_plans",
	doc:  "The order of carriers by called number. The keys decision, deck, policy and carrier_quality are left to people.",
	keys: []string{"name"}, keyDoc: []string{"Trunk groups of customers name it in route_plan."},
	fields: []field{
		{name: "routes", kind: objects, doc: "Rows; the longest prefix wins.", fields: []field{
			{name: "prefix", required: true, doc: "+1214, a preserved number like 911, or * for all others."},
			{name: "providers", kind: texts, required: true, doc: "Trunk groups of carriers, tried in order."},
		}},
		{name: "reroute_causes", kind: numbers, doc: "Finals that try the next route."},
		{name: "ring", doc: "Dial to answer of a route that rings; off."},
		{name: "max_members", kind: number, doc: "How many members of one route's group are tried."},
	},
}

// things are all resources.
func things() []*thing {
	return []*thing{trunkGroup, member, numberRange, credential, routePlan, numberPolicy}
}
