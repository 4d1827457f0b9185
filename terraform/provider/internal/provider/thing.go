package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

// Attributes of every digest user.
const (
	passwordAttribute = "password_wo"
	versionAttribute  = "password_wo_version"
)

// thing is one kind of named thing in the document.
type thing struct {
	name   string // of the resource, without its prefix: trunk_group
	what   string // in words: trunk group
	doc    string
	list   string   // the list of the document in which it stands
	inside bool     // the list is one of a trunk group, which the attribute trunk_group names
	keys   []string // that tell it from the others, in the order of its import id; they are in the document too
	keyDoc []string
	check  []validator.String // of the only key
	scalar bool               // an item of the list is the value of the only key
	secret bool               // it has a password, of which the document holds hashes
	fields []field
	parts  []*thing // lists of things inside, of which a resource owns those that it names
}

// groupAttribute names the trunk group in which a thing stands.
const groupAttribute = "trunk_group"

// schema is the resource's.
func (t *thing) schema() schema.Schema {
	out := attributes(t.fields)
	if t.inside {
		out[groupAttribute] = key("Name of the trunk group in which it stands.")
	}
	for i, k := range t.keys {
		out[k] = key(t.keyDoc[i], t.check...)
	}
	if t.secret {
		addSecret(out)
	}
	for _, p := range t.parts {
		out[p.list] = p.asPart()
	}
	return schema.Schema{Description: t.doc, Attributes: out}
}

// asPart is the attribute of a list inside of another thing.
func (t *thing) asPart() schema.Attribute {
	doc := "The " + t.what + "s that this resource owns. Others of the same trunk group, of other resources or made by hand, are left alone."
	if t.scalar {
		return (&field{kind: texts, doc: doc}).attribute()
	}
	inner := attributes(t.fields)
	for i, k := range t.keys {
		inner[k] = schema.StringAttribute{Required: true, Description: t.keyDoc[i]}
	}
	if t.secret {
		addSecret(inner)
	}
	return schema.ListNestedAttribute{Optional: true, Description: doc, NestedObject: schema.NestedAttributeObject{Attributes: inner}}
}

func addSecret(to map[string]schema.Attribute) {
	to[passwordAttribute] = schema.StringAttribute{
		Optional: true, Sensitive: true, WriteOnly: true,
		Description: "The password. It is hashed here and stands neither in the state nor in the document. It is read when the user is made and when " + versionAttribute + " changes.",
	}
	to[versionAttribute] = schema.Int64Attribute{
		Optional: true, Description: "Any number; another one has the password hashed anew. A plan shows it as changed when the hashes in the document are not those that were written.",
	}
}
