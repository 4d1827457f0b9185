package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// kind is the form of a field's value, in the document and in Terraform.
type kind uint8

const (
	text    kind = iota
	number       // a whole number
	flag         // true or false
	texts        // a list of texts
	numbers      // a list of whole numbers
	shares       // whole numbers by name
	object       // a mapping of fields
	objects      // a list of mappings
)

// field is one key of a thing. Its attribute has the name that it has in the document.
type field struct {
	name     string
	kind     kind
	doc      string
	required bool
	words    []string // the only values of a text
	fields   []field  // of objects
}

// attribute is the field in a schema.
func (f *field) attribute() schema.Attribute {
	switch f.kind {
	case number:
		return schema.Int64Attribute{Required: f.required, Optional: !f.required, Description: f.doc}
	case flag:
		return schema.BoolAttribute{Required: f.required, Optional: !f.required, Description: f.doc}
	case texts:
		return schema.ListAttribute{ElementType: types.StringType, Required: f.required, Optional: !f.required, Description: f.doc}
	case numbers:
		return schema.ListAttribute{ElementType: types.Int64Type, Required: f.required, Optional: !f.required, Description: f.doc}
	case shares:
		return schema.MapAttribute{ElementType: types.Int64Type, Required: f.required, Optional: !f.required, Description: f.doc}
	case object:
		return schema.SingleNestedAttribute{Attributes: attributes(f.fields), Required: f.required, Optional: !f.required, Description: f.doc}
	case objects:
		return schema.ListNestedAttribute{
			NestedObject: schema.NestedAttributeObject{Attributes: attributes(f.fields)},
			Required:     f.required, Optional: !f.required, Description: f.doc,
		}
	}
	a := schema.StringAttribute{Required: f.required, Optional: !f.required, Description: f.doc}
	if len(f.words) > 0 {
		a.Validators = []validator.String{stringvalidator.OneOf(f.words...)}
	} else {
		a.Validators = []validator.String{stringvalidator.LengthAtLeast(1)}
	}
	return a
}

func attributes(fields []field) map[string]schema.Attribute {
	out := make(map[string]schema.Attribute, len(fields))
	for i := range fields {
		out[fields[i].name] = fields[i].attribute()
	}
	return out
}

// key is an attribute by which a thing is found: with another value it is another thing.
func key(doc string, more ...validator.String) schema.StringAttribute {
	return schema.StringAttribute{
		Required: true, Description: doc,
		Validators:    append([]validator.String{stringvalidator.LengthAtLeast(1)}, more...),
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
}
