package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/terraform-plugin-go/tfprotov5"
	"github.com/hashicorp/terraform-plugin-go/tfprotov5/tf5server"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// errStub is what everything gets that would need the real provider.
var errStub = []*tfprotov5.Diagnostic{{
	Severity: tfprotov5.DiagnosticSeverityError,
	Summary:  "This provider has a schema and nothing else",
	Detail:   "It stands in the mirror that tests use. Say mock_provider in a test, or install the real provider.",
}}

// A stub is a provider that only knows what fits. The methods that it does not define are of kinds that it has none
// of, and are never called.
type stub struct {
	tfprotov5.ProviderServer
	answer *tfprotov5.GetProviderSchemaResponse
}

// serve is the provider: it answers Terraform until that ends the process.
func serve() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(self), schemaFile))
	if err != nil {
		return err
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	answer, err := s.protocol()
	if err != nil {
		return err
	}
	return tf5server.Serve(source, func() tfprotov5.ProviderServer { return &stub{answer: answer} })
}

// protocol is the whole schema in the form of the plugin protocol.
func (s schema) protocol() (*tfprotov5.GetProviderSchemaResponse, error) {
	all := func(blocks map[string]block) (map[string]*tfprotov5.Schema, error) {
		out := map[string]*tfprotov5.Schema{}
		for name, b := range blocks {
			p, err := b.protocol()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = &tfprotov5.Schema{Block: p}
		}
		return out, nil
	}
	resources, err := all(s.Resources)
	if err != nil {
		return nil, err
	}
	data, err := all(s.DataSources)
	if err != nil {
		return nil, err
	}
	provider, err := s.Provider.protocol()
	if err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	for _, a := range provider.Attributes {
		a.Computed = false // nothing of a provider's own configuration can be
	}
	return &tfprotov5.GetProviderSchemaResponse{
		Provider:          &tfprotov5.Schema{Block: provider},
		ResourceSchemas:   resources,
		DataSourceSchemas: data,
	}, nil
}

func (s *stub) GetMetadata(context.Context, *tfprotov5.GetMetadataRequest) (*tfprotov5.GetMetadataResponse, error) {
	out := &tfprotov5.GetMetadataResponse{}
	for name := range s.answer.ResourceSchemas {
		out.Resources = append(out.Resources, tfprotov5.ResourceMetadata{TypeName: name})
	}
	for name := range s.answer.DataSourceSchemas {
		out.DataSources = append(out.DataSources, tfprotov5.DataSourceMetadata{TypeName: name})
	}
	return out, nil
}

func (s *stub) GetProviderSchema(context.Context, *tfprotov5.GetProviderSchemaRequest) (*tfprotov5.GetProviderSchemaResponse, error) {
	return s.answer, nil
}

func (s *stub) GetResourceIdentitySchemas(context.Context, *tfprotov5.GetResourceIdentitySchemasRequest) (*tfprotov5.GetResourceIdentitySchemasResponse, error) {
	return &tfprotov5.GetResourceIdentitySchemasResponse{}, nil
}

func (s *stub) PrepareProviderConfig(_ context.Context, r *tfprotov5.PrepareProviderConfigRequest) (*tfprotov5.PrepareProviderConfigResponse, error) {
	return &tfprotov5.PrepareProviderConfigResponse{PreparedConfig: r.Config}, nil
}

func (s *stub) ConfigureProvider(context.Context, *tfprotov5.ConfigureProviderRequest) (*tfprotov5.ConfigureProviderResponse, error) {
	return &tfprotov5.ConfigureProviderResponse{}, nil
}

func (s *stub) StopProvider(context.Context, *tfprotov5.StopProviderRequest) (*tfprotov5.StopProviderResponse, error) {
	return &tfprotov5.StopProviderResponse{}, nil
}

// ValidateResourceTypeConfig refuses attributes that only the provider sets, as the real one does. Whatever else does
// not fit the schema never gets here: Terraform itself refuses it.
func (s *stub) ValidateResourceTypeConfig(_ context.Context, r *tfprotov5.ValidateResourceTypeConfigRequest) (*tfprotov5.ValidateResourceTypeConfigResponse, error) {
	out := &tfprotov5.ValidateResourceTypeConfigResponse{}
	sch := s.answer.ResourceSchemas[r.TypeName]
	if sch == nil {
		out.Diagnostics = errStub
		return out, nil
	}
	value, err := r.Config.Unmarshal(sch.ValueType())
	if err != nil {
		return nil, err
	}
	for _, a := range sch.Block.Attributes {
		at := tftypes.NewAttributePath().WithAttributeName(a.Name)
		got, _, err := tftypes.WalkAttributePath(value, at)
		if err != nil {
			return nil, err
		}
		if v, ok := got.(tftypes.Value); ok && !v.IsNull() && !a.Required && !a.Optional {
			out.Diagnostics = append(out.Diagnostics, &tfprotov5.Diagnostic{
				Severity:  tfprotov5.DiagnosticSeverityError,
				Summary:   "Value for unconfigurable attribute",
				Detail:    fmt.Sprintf("Nobody can set %q: the provider decides its value.", a.Name),
				Attribute: at,
			})
		}
	}
	return out, nil
}

func (s *stub) ValidateDataSourceConfig(context.Context, *tfprotov5.ValidateDataSourceConfigRequest) (*tfprotov5.ValidateDataSourceConfigResponse, error) {
	return &tfprotov5.ValidateDataSourceConfigResponse{}, nil
}

// OpenTofu asks for these two in tests with mocks, which Terraform answers itself.

func (s *stub) UpgradeResourceState(_ context.Context, r *tfprotov5.UpgradeResourceStateRequest) (*tfprotov5.UpgradeResourceStateResponse, error) {
	sch := s.answer.ResourceSchemas[r.TypeName]
	if sch == nil {
		return &tfprotov5.UpgradeResourceStateResponse{Diagnostics: errStub}, nil
	}
	t := sch.ValueType()
	value, err := r.RawState.UnmarshalWithOpts(t, tfprotov5.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}})
	if err != nil {
		return nil, err
	}
	state, err := tfprotov5.NewDynamicValue(t, value)
	if err != nil {
		return nil, err
	}
	return &tfprotov5.UpgradeResourceStateResponse{UpgradedState: &state}, nil
}

func (s *stub) ReadResource(_ context.Context, r *tfprotov5.ReadResourceRequest) (*tfprotov5.ReadResourceResponse, error) {
	return &tfprotov5.ReadResourceResponse{NewState: r.CurrentState, Private: r.Private}, nil
}

func (s *stub) PlanResourceChange(context.Context, *tfprotov5.PlanResourceChangeRequest) (*tfprotov5.PlanResourceChangeResponse, error) {
	return &tfprotov5.PlanResourceChangeResponse{Diagnostics: errStub}, nil
}

func (s *stub) ApplyResourceChange(context.Context, *tfprotov5.ApplyResourceChangeRequest) (*tfprotov5.ApplyResourceChangeResponse, error) {
	return &tfprotov5.ApplyResourceChangeResponse{Diagnostics: errStub}, nil
}

func (s *stub) ImportResourceState(context.Context, *tfprotov5.ImportResourceStateRequest) (*tfprotov5.ImportResourceStateResponse, error) {
	return &tfprotov5.ImportResourceStateResponse{Diagnostics: errStub}, nil
}

func (s *stub) ReadDataSource(context.Context, *tfprotov5.ReadDataSourceRequest) (*tfprotov5.ReadDataSourceResponse, error) {
	return &tfprotov5.ReadDataSourceResponse{Diagnostics: errStub}, nil
}

func (s *stub) GetFunctions(context.Context, *tfprotov5.GetFunctionsRequest) (*tfprotov5.GetFunctionsResponse, error) {
	return &tfprotov5.GetFunctionsResponse{}, nil
}
