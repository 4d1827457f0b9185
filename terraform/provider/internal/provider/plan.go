package provider

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// alone are the keys whose faults hold whatever else the plan changes. A fault of another
// key may be over when the rest of the plan is made: a route plan that is not there yet.
var alone = []string{
	"role", "distribution", "monitoring", "limits", "timers", "acl", "numbering", "assert_identity",
	"advance_on", "never_advance", "handoff_on", "passive_codes", "exhausted_code", "max_attempts",
	"id", "address", "fqdn", "transport", "server_name", "weight", "priority", "direction", "name",
	"username", "realm", "algorithms", "bound_ip", "ani_override",
	"reroute_causes", "ring", "max_members", "format", "headers", "preserve", "on_unparseable", "diversion",
}

// placeholder stands for a password that a plan does not know yet.
const placeholder = "placeholder"

// ModifyPlan implements resource.ResourceWithModifyPlan. It asks a node what is wrong with
// the document as this resource would have it, so that a value that no node takes is refused
// when the plan is made.
func (r *thingResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.cluster == nil || !r.cluster.checks || req.Plan.Raw.IsNull() || !req.Plan.Raw.IsFullyKnown() || req.Plan.Raw.Equal(req.State.Raw) {
		return
	}
	_, d, err := r.cluster.document(ctx)
	if err != nil {
		resp.Diagnostics.AddWarning("The plan of "+r.what+"s is not checked", err.Error())
		return
	}
	d = d.Clone()
	v, old := attributesOf(req.Plan.Raw), attributesOf(req.State.Raw)
	if req.State.Raw.IsNull() {
		err = r.create(d, v, r.guessed(v))
	} else {
		err = r.update(d, old, v, r.guessed(v))
	}
	switch {
	case errors.Is(err, errExists):
		resp.Diagnostics.AddWarning(r.title(v)+" is in the document already", "Import it, unless this plan takes it out first: terraform import ADDRESS '"+r.idOf(v)+"'")
		return
	case err != nil:
		return // what else is missing may come with the same plan
	}
	faults, err := r.cluster.Check(ctx, d.Bytes())
	if err != nil {
		return // a conflict of the moment is no business of the plan
	}
	owner, err := r.owner(d, v)
	if err != nil {
		return
	}
	at, _ := r.find(d, owner, v)
	mine := below(faults, at)
	if len(mine) == 0 {
		return
	}
	// An address that another thing has is free when the same plan takes that away: a fault that is
	// over without the others is told, and left to the apply.
	left, at, err := apart(d, at)
	if err != nil {
		return
	}
	if faults, err = r.cluster.Check(ctx, left.Bytes()); err != nil {
		return
	}
	still := below(faults, at)
	for rest, f := range mine {
		if _, stays := still[rest]; stays {
			r.refuse(resp, rest, f)
		} else {
			resp.Diagnostics.AddWarning("A node would refuse "+r.title(v)+" unless other things change first", f.String())
		}
	}
}

// below are the faults of a thing, by their place in it.
func below(faults []client.Fault, at document.Path) map[string]client.Fault {
	out := make(map[string]client.Fault)
	for _, f := range faults {
		if rest, mine := strings.CutPrefix(f.Path, at.String()+"."); mine {
			out[rest] = f
		}
	}
	return out
}

// apart is the document without the other things of the lists that a thing stands in, and its place there.
func apart(d *document.Document, at document.Path) (*document.Document, document.Path, error) {
	d, at = d.Clone(), slices.Clone(at)
	for i, step := range at {
		own, inList := step.(int)
		if !inList {
			continue
		}
		for n := range slices.Backward(d.Node(at[:i]).Content) {
			if n == own {
				continue
			}
			if err := d.Remove(at[:i].Child(n)); err != nil {
				return nil, nil, err
			}
		}
		at[i] = 0
	}
	return d, at, nil
}

var part = regexp.MustCompile(`^(members|credentials)\[\d+\]\.`)

// refuse reports a fault at its attribute when it stands alone.
func (r *thingResource) refuse(resp *resource.ModifyPlanResponse, rest string, f client.Fault) {
	inner := part.ReplaceAllString(rest, "")
	first := inner[:len(inner)-len(strings.TrimLeft(inner, "abcdefghijklmnopqrstuvwxyz0123456789_"))]
	if slices.Contains(alone, first) {
		root := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz0123456789_"))]
		resp.Diagnostics.AddAttributeError(path.Root(root), "A node would refuse this", f.String())
	}
}

// guessed is what the configuration may say of passwords, for a document that is only checked.
func (r *thingResource) guessed(v values) values {
	out := maps.Clone(v)
	if r.secret {
		out[passwordAttribute] = tftypes.NewValue(tftypes.String, placeholder)
	}
	for _, p := range r.parts {
		if !p.secret {
			continue
		}
		var items []tftypes.Value
		for _, item := range p.owned(v[p.list]) {
			item = maps.Clone(item) // it is the plan's own
			item[passwordAttribute] = tftypes.NewValue(tftypes.String, placeholder)
			kinds := map[string]tftypes.Type{}
			for name, x := range item {
				kinds[name] = x.Type()
			}
			items = append(items, tftypes.NewValue(tftypes.Object{AttributeTypes: kinds}, map[string]tftypes.Value(item)))
		}
		if len(items) > 0 {
			out[p.list] = tftypes.NewValue(tftypes.List{ElementType: items[0].Type()}, items)
		}
	}
	return out
}
