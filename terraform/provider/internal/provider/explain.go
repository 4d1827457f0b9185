package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
)

// explainSource is the data source tandem_explain.
type explainSource struct{ cluster *cluster }

type explainModel struct {
	Called    types.String `tfsdk:"called"`
	Source    types.String `tfsdk:"source"`
	Transport types.String `tfsdk:"transport"`
	Site      types.String `tfsdk:"site"`
	Username  types.String `tfsdk:"username"`
	Realm     types.String `tfsdk:"realm"`
	Caller    types.String `tfsdk:"caller"`
	Assume    types.List   `tfsdk:"assume"`
	Direction types.String `tfsdk:"direction"`
	Ingress   types.String `tfsdk:"ingress"`
	Code      types.Int64  `tfsdk:"code"`
	Steps     []stepModel  `tfsdk:"steps"`
	Order     []orderModel `tfsdk:"order"`
	JSON      types.String `tfsdk:"json"`
}

type stepModel struct {
	Name string `tfsdk:"name" json:"name"`
	Text string `tfsdk:"text" json:"text"`
}

type orderModel struct {
	Place  int64  `tfsdk:"place" json:"place"`
	Group  string `tfsdk:"group" json:"group"`
	Member string `tfsdk:"member" json:"member"`
	Site   string `tfsdk:"site" json:"site"`
	Addr   string `tfsdk:"address" json:"addr"`
	State  string `tfsdk:"state" json:"state"`
}

// Metadata implements datasource.DataSource.
func (s *explainSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_explain"
}

// Schema implements datasource.DataSource.
func (s *explainSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	ask := func(doc string) schema.Attribute { return schema.StringAttribute{Optional: true, Description: doc} }
	word := func(doc string) schema.Attribute { return schema.StringAttribute{Computed: true, Description: doc} }
	list := func(doc string, of map[string]schema.Attribute) schema.Attribute {
		return schema.ListNestedAttribute{Computed: true, Description: doc, NestedObject: schema.NestedAttributeObject{Attributes: of}}
	}
	resp.Schema = schema.Schema{
		Description: "What would be decided for a call now, as tandem explain says it.",
		Attributes: map[string]schema.Attribute{
			"called": schema.StringAttribute{Required: true, Description: "Called number, or sip:user@host."},
			"source": ask("ip:port of the caller."), "site": ask("Where it enters. Default the asked node's."),
			"transport": schema.StringAttribute{Optional: true, Description: "Default udp.", Validators: []validator.String{stringvalidator.OneOf("udp", "tcp", "tls", "ws", "wss")}},
			"username":  ask("Digest user, taken as proven."), "realm": ask("Its realm."), "caller": ask("Number of the caller."),
			"assume":    schema.ListAttribute{Optional: true, ElementType: types.StringType, Description: "What is taken to be otherwise: GROUP/MEMBER=down, site:SITE=down."},
			"direction": word("inbound or outbound."), "ingress": word("Trunk group of the caller."),
			"code":  schema.Int64Attribute{Computed: true, Description: "Final response when there is no trunk group to try, else 0."},
			"json":  word("The whole answer."),
			"steps": list("The decision, in words.", map[string]schema.Attribute{"name": word("What was decided."), "text": word("How.")}),
			"order": list("Members in the order in which they are tried.", map[string]schema.Attribute{
				"place": schema.Int64Attribute{Computed: true, Description: "From 1; 0 is not dialled."}, "group": word("Trunk group."), "member": word("Id."),
				"site": word("Site."), "address": word("ip:port."), "state": word("active, inactive and so on."),
			}),
		},
	}
}

// Configure implements datasource.DataSourceWithConfigure.
func (s *explainSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	if c, ok := req.ProviderData.(*cluster); ok {
		s.cluster = c
	}
}

// Read implements datasource.DataSource.
func (s *explainSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m explainModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	q := client.Question{
		Called: m.Called.ValueString(), Source: m.Source.ValueString(), Transport: m.Transport.ValueString(), Site: m.Site.ValueString(),
		Username: m.Username.ValueString(), Realm: m.Realm.ValueString(), Caller: m.Caller.ValueString(),
	}
	resp.Diagnostics.Append(m.Assume.ElementsAs(ctx, &q.Assume, false)...)
	if s.cluster == nil {
		resp.Diagnostics.AddError("Cannot explain a call to "+q.Called, errNoEndpoint.Error())
	}
	if resp.Diagnostics.HasError() {
		return
	}
	text, err := s.cluster.Explain(ctx, q)
	var said struct {
		Direction string       `json:"direction"`
		Ingress   string       `json:"ingress"`
		Code      int64        `json:"code"`
		Steps     []stepModel  `json:"steps"`
		Order     []orderModel `json:"order"`
	}
	if err == nil {
		err = json.Unmarshal(text, &said)
	}
	if err != nil {
		resp.Diagnostics.AddError("Cannot explain a call to "+q.Called, err.Error())
		return
	}
	m.Direction, m.Ingress, m.Code = types.StringValue(said.Direction), types.StringValue(said.Ingress), types.Int64Value(said.Code)
	m.Steps, m.Order, m.JSON = append([]stepModel{}, said.Steps...), append([]orderModel{}, said.Order...), types.StringValue(string(text))
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}
