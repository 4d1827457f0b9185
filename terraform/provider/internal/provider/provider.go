package provider

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/tandem-sbc/tandem/terraform/provider/internal/client"
	"github.com/tandem-sbc/tandem/terraform/provider/internal/document"
)

// Address is the source that configurations name.
const Address = "registry.terraform.io/tandem-sbc/tandem"

// tandemProvider is the provider of one cluster.
type tandemProvider struct{ version string }

// New returns a provider of a version.
func New(version string) func() provider.Provider {
	return func() provider.Provider { return &tandemProvider{version} }
}

// settings are the provider's arguments.
type settings struct {
	Endpoints types.List   `tfsdk:"endpoints"`
	Token     types.String `tfsdk:"token"`
	TokenFile types.String `tfsdk:"token_file"`
	CA        types.String `tfsdk:"ca_file"`
	Cert      types.String `tfsdk:"cert_file"`
	Key       types.String `tfsdk:"key_file"`
	Server    types.String `tfsdk:"server_name"`
	Servers   types.Map    `tfsdk:"server_names"`
	Author    types.String `tfsdk:"author"`
	Patience  types.String `tfsdk:"retry_for"`
	Check     types.Bool   `tfsdk:"check_plan"`
}

// cluster is what resources and data sources work with.
type cluster struct {
	*client.Client
	checks bool // plans are checked by a node
}

// errNoEndpoint says that the provider's endpoints come of the same plan and are not known yet.
var errNoEndpoint = errors.New("the provider has no endpoint yet: its arguments are only known after apply")

// document reads and parses the document in force.
func (c *cluster) document(ctx context.Context) (client.Document, *document.Document, error) {
	if c == nil {
		return client.Document{}, nil, errNoEndpoint
	}
	d, err := c.Document(ctx)
	if err != nil {
		return d, nil, err
	}
	if d.Revision == 0 {
		return d, nil, fmt.Errorf("the cluster has no document yet: apply the first one with tandem config apply, with its sites and at least one trunk group")
	}
	parsed, err := document.Parse([]byte(d.Text))
	return d, parsed, err
}

// Metadata implements provider.Provider.
func (p *tandemProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "tandem", p.version
}

// Schema implements provider.Provider.
func (p *tandemProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	file := func(doc string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Description: doc}
	}
	resp.Schema = schema.Schema{
		Description: "Manages the cluster document of a Tandem cluster through the admin API of any of its nodes.",
		Attributes: map[string]schema.Attribute{
			"endpoints": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				Description: "Admin addresses of nodes, tried in turn: unix:/path, 127.0.0.1:port, https://host:port. Default TANDEM_ADDR, which may name several with commas.",
			},
			"token":       schema.StringAttribute{Optional: true, Sensitive: true, Description: "Admin token. Default TANDEM_TOKEN."},
			"token_file":  file("File that holds the admin token."),
			"ca_file":     file("PEM file of the authorities of https endpoints. Default those of the system."),
			"cert_file":   file("PEM file of a client certificate for https endpoints."),
			"key_file":    file("PEM file of its private key."),
			"server_name": file("Name in the certificates of https endpoints. Default the host of the endpoint."),
			"server_names": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				Description: "By endpoint, the name in its certificate, where each node has a name of its own: those of tandem cluster cert are NODE.CLUSTER.tandem.internal. server_name is for the rest.",
			},
			"author":     file("Who stands in the history of the document. Default terraform."),
			"retry_for":  file("How long a change is tried again while no node takes it, such as while a leader is elected. Default 1m."),
			"check_plan": schema.BoolAttribute{Optional: true, Description: "Whether a node checks what is planned. Default true."},
		},
	}
}

// Configure implements provider.Provider.
func (p *tandemProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var s settings
	resp.Diagnostics.Append(req.Config.Get(ctx, &s)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if s.Endpoints.IsUnknown() || s.Servers.IsUnknown() || s.Token.IsUnknown() {
		return // nodes that the same plan makes: they are asked when they are there
	}
	cfg := client.Config{
		CA: s.CA.ValueString(), Cert: s.Cert.ValueString(), Key: s.Key.ValueString(),
		ServerName: s.Server.ValueString(), Author: s.Author.ValueString(), Token: s.Token.ValueString(),
	}
	resp.Diagnostics.Append(s.Endpoints.ElementsAs(ctx, &cfg.Endpoints, false)...)
	resp.Diagnostics.Append(s.Servers.ElementsAs(ctx, &cfg.ServerNames, false)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if len(cfg.Endpoints) == 0 {
		cfg.Endpoints = strings.FieldsFunc(os.Getenv("TANDEM_ADDR"), func(r rune) bool { return r == ',' || r == ' ' })
	}
	if file := s.TokenFile.ValueString(); file != "" {
		token, err := os.ReadFile(file)
		if err != nil {
			resp.Diagnostics.AddAttributeError(path.Root("token_file"), "Cannot read the token", err.Error())
			return
		}
		cfg.Token = strings.TrimSpace(string(token))
	}
	if cfg.Token == "" {
		cfg.Token = os.Getenv("TANDEM_TOKEN")
	}
	if text := s.Patience.ValueString(); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			resp.Diagnostics.AddAttributeError(path.Root("retry_for"), "No duration", fmt.Sprintf("%q: write it like 30s or 2m", text))
			return
		}
		cfg.Patience = d
	}
	c, err := client.New(cfg)
	if err != nil {
		resp.Diagnostics.AddError("Cannot reach the cluster", err.Error())
		return
	}
	all := &cluster{Client: c, checks: s.Check.IsNull() || s.Check.ValueBool()}
	resp.ResourceData, resp.DataSourceData = all, all
}

// Resources implements provider.Provider.
func (p *tandemProvider) Resources(context.Context) []func() resource.Resource {
	var out []func() resource.Resource
	for _, t := range things() {
		out = append(out, func() resource.Resource { return &thingResource{thing: t} })
	}
	return out
}

// DataSources implements provider.Provider.
func (p *tandemProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &statusSource{} },
		func() datasource.DataSource { return &explainSource{} },
	}
}
