package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// The framework calls these when a resource has them.
var (
	_ resource.ResourceWithConfigure   = (*thingResource)(nil)
	_ resource.ResourceWithImportState = (*thingResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*thingResource)(nil)
)

// marksKey is where a resource's private state has the fingerprints of the hashes that it wrote.
const marksKey = "fingerprints"

// thingResource is the resource of one kind of thing.
type thingResource struct {
	*thing
	cluster *cluster
}

// Metadata implements resource.Resource.
func (r *thingResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.name
}

// Schema implements resource.Resource.
func (r *thingResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema()
}

// Configure implements resource.ResourceWithConfigure.
func (r *thingResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	if c, ok := req.ProviderData.(*cluster); ok {
		r.cluster = c
	}
}

// Create implements resource.Resource.
func (r *thingResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	v, secrets := attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw)
	var users map[string]string
	if !r.commit(ctx, &resp.Diagnostics, v, "create", func(d *document.Document) error {
		err := r.create(d, v, secrets)
		users = r.marksIn(d, v)
		return err
	}) {
		return
	}
	resp.State.Raw = req.Plan.Raw
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, marksKey, encoded(users))...)
}

// Update implements resource.Resource.
func (r *thingResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	old, v, secrets := attributesOf(req.State.Raw), attributesOf(req.Plan.Raw), attributesOf(req.Config.Raw)
	var users map[string]string
	if !r.commit(ctx, &resp.Diagnostics, v, "change", func(d *document.Document) error {
		err := r.update(d, old, v, secrets)
		users = r.marksIn(d, v)
		return err
	}) {
		return
	}
	resp.State.Raw = req.Plan.Raw
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, marksKey, encoded(users))...)
}

// Delete implements resource.Resource.
func (r *thingResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	old := attributesOf(req.State.Raw)
	r.commit(ctx, &resp.Diagnostics, old, "remove", func(d *document.Document) error { return r.remove(d, old) })
}

// commit makes an edit part of the document in force, and says why not when it is refused.
func (r *thingResource) commit(ctx context.Context, diags *diag.Diagnostics, v values, what string, edit func(d *document.Document) error) bool {
	if r.cluster == nil {
		diags.AddError("Cannot "+what+" "+r.title(v), errNoEndpoint.Error())
		return false
	}
	err := r.cluster.Commit(ctx, client.Edit{What: what + " " + r.title(v), Make: func(d *document.Document) error {
		if err := edit(d); err != nil {
			return fmt.Errorf("%s: %w", r.title(v), err)
		}
		return nil
	}})
	if err == nil {
		return true
	}
	text := err.Error()
	if errors.Is(err, errExists) {
		text += "\n\nImport it to have Terraform own it: terraform import ADDRESS '" + r.idOf(v) + "'"
	}
	diags.AddError("Cannot "+what+" "+r.title(v), text)
	return false
}

// idOf is the import id of a thing.
func (r *thingResource) idOf(v values) string { return r.title(v)[len(r.what)+1:] }

func (r *thingResource) marksIn(d *document.Document, v values) map[string]string {
	out := make(map[string]string)
	if owner, err := r.owner(d, v); err == nil {
		if at, ok := r.find(d, owner, v); ok {
			marks(r.thing, d.Node(at), v, out)
		}
	}
	return out
}

func encoded(users map[string]string) []byte {
	text, err := json.Marshal(users)
	if err != nil {
		return []byte("{}") // texts always have a form in JSON
	}
	return text
}

// Read implements resource.Resource.
func (r *thingResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	written, diags := req.Private.GetKey(ctx, marksKey)
	resp.Diagnostics.Append(diags...)
	how := &reading{marks: map[string]string{}}
	if len(written) > 0 {
		if err := json.Unmarshal(written, &how.marks); err != nil {
			resp.Diagnostics.AddError("Cannot read the private state of "+r.what, err.Error())
			return
		}
	}
	v := attributesOf(req.State.Raw)
	there := r.readInto(ctx, &resp.Diagnostics, how, v, &resp.State)
	if !there && !resp.Diagnostics.HasError() {
		resp.State.RemoveResource(ctx)
	}
}

// readInto reads a thing from the document in force into a state; false when it is not there.
func (r *thingResource) readInto(ctx context.Context, diags *diag.Diagnostics, how *reading, v values, into *tfsdk.State) bool {
	fail := func(err error) bool {
		diags.AddError("Cannot read "+r.title(v), err.Error())
		return false
	}
	_, d, err := r.cluster.document(ctx)
	if err != nil {
		return fail(err)
	}
	owner, err := r.owner(d, v)
	if err != nil {
		return false
	}
	at, there := r.find(d, owner, v)
	if !there {
		return false
	}
	as, ok := into.Schema.Type().TerraformType(ctx).(tftypes.Object)
	if !ok {
		return fail(errors.New("the schema is no object"))
	}
	out, err := how.state(r.thing, d.Node(at), v, as)
	if err != nil {
		return fail(err)
	}
	into.Raw = tftypes.NewValue(as, map[string]tftypes.Value(out))
	return true
}

// ImportState implements resource.ResourceWithImportState.
func (r *thingResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	v, all, ok := r.importID(req.ID)
	if !ok {
		form := "NAME"
		switch {
		case len(r.parts) > 0:
			form = "NAME, or NAME/* with the " + r.what + "'s members, numbers and credentials"
		case r.secret:
			form = "TRUNK_GROUP/USERNAME@REALM"
		case r.inside:
			form = "TRUNK_GROUP/NAME"
		}
		resp.Diagnostics.AddError("Cannot import "+r.what+" "+req.ID, "write the id as "+form)
		return
	}
	if !r.readInto(ctx, &resp.Diagnostics, &reading{all: all}, v, &resp.State) && !resp.Diagnostics.HasError() {
		resp.Diagnostics.AddError("Cannot import "+r.title(v), "it is not in the document in force")
	}
}
