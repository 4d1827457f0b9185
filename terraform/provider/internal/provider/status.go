package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// statusSource is the data source tandem_cluster_status.
type statusSource struct{ cluster *cluster }

type statusModel struct {
	Cluster    string      `tfsdk:"cluster"`
	Leader     string      `tfsdk:"leader"`
	Quorum     bool        `tfsdk:"quorum"`
	Generation int64       `tfsdk:"generation"`
	Revision   int64       `tfsdk:"revision"`
	Author     string      `tfsdk:"author"`
	Reason     string      `tfsdk:"reason"`
	Alarms     []string    `tfsdk:"alarms"`
	Nodes      []nodeModel `tfsdk:"nodes"`
}

type nodeModel struct {
	Name       string `tfsdk:"name"`
	Site       string `tfsdk:"site"`
	Witness    bool   `tfsdk:"witness"`
	State      string `tfsdk:"state"`
	Up         bool   `tfsdk:"up"`
	Raft       string `tfsdk:"raft"`
	Version    string `tfsdk:"version"`
	Generation int64  `tfsdk:"generation"`
	Revision   int64  `tfsdk:"revision"`
}

// Metadata implements datasource.DataSource.
func (s *statusSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cluster_status"
}

// Schema implements datasource.DataSource.
func (s *statusSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	word := func(doc string) schema.Attribute { return schema.StringAttribute{Computed: true, Description: doc} }
	count := func(doc string) schema.Attribute { return schema.Int64Attribute{Computed: true, Description: doc} }
	yes := func(doc string) schema.Attribute { return schema.BoolAttribute{Computed: true, Description: doc} }
	resp.Schema = schema.Schema{
		Description: "How the cluster does, as one of its nodes sees it: for a check block, or a condition of another resource.",
		Attributes: map[string]schema.Attribute{
			"cluster": word("Name of the cluster."), "leader": word("Empty when none is known: calls go on, changes must wait."),
			"quorum": yes("Whether changes can be made."), "generation": count("Of the document in force."), "revision": count("Of the document in force."),
			"author": word("Who made that revision."), "reason": word("Why."),
			"alarms": schema.ListAttribute{Computed: true, ElementType: types.StringType, Description: "Alarms of the asked node."},
			"nodes": schema.ListNestedAttribute{Computed: true, Description: "All nodes.", NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"name": word("Its name."), "site": word("Where it stands."), "witness": yes("It votes and carries no calls."),
				"state": word("ready, draining, starting or lost."), "up": yes("It is heard."), "raft": word("leader, voter, nonvoter or none."),
				"version": word("Of its program."), "generation": count("Of its document, as far as known."), "revision": count("Of its document, as far as known."),
			}}},
		},
	}
}

// Configure implements datasource.DataSourceWithConfigure.
func (s *statusSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	if c, ok := req.ProviderData.(*cluster); ok {
		s.cluster = c
	}
}

// Read implements datasource.DataSource.
func (s *statusSource) Read(ctx context.Context, _ datasource.ReadRequest, resp *datasource.ReadResponse) {
	if s.cluster == nil {
		resp.Diagnostics.AddError("Cannot read the cluster's status", errNoEndpoint.Error())
		return
	}
	d, err := s.cluster.Document(ctx)
	if err != nil {
		resp.Diagnostics.AddError("Cannot read the cluster's document", err.Error())
		return
	}
	st, err := s.cluster.Status(ctx)
	if err != nil {
		resp.Diagnostics.AddError("Cannot read the cluster's status", err.Error())
		return
	}
	m := statusModel{
		Cluster: st.Cluster, Leader: st.Leader, Quorum: st.Quorum, Author: d.Author, Reason: d.Reason,
		Generation: int64(d.Generation), Revision: int64(d.Revision), Alarms: append([]string{}, st.Alarms...), Nodes: []nodeModel{},
	}
	for _, n := range st.Nodes {
		m.Nodes = append(m.Nodes, nodeModel{n.Name, n.Site, n.Witness, n.State, n.Up || n.Self, n.Raft, n.Version, int64(n.Gen), int64(n.Rev)})
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}
