package cotter

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configs"
)

// configReader is the ConfigReader of an Installer that was given none.
type configReader struct{}

func (configReader) ReadCalls(ctx context.Context, dir ConfigDir) ([]ModuleCall, hcl.Diagnostics) {
	reader := configs.Reader{Terraform: dir.Dialect == DialectTerraform}
	module, diags := reader.Read(ctx, configs.Dir{Path: dir.Dir, Boundary: dir.Boundary, Display: dir.Display})
	var calls []ModuleCall
	for _, call := range module.Calls {
		calls = append(calls, ModuleCall{
			Name:         call.Name,
			Source:       call.Source,
			Version:      call.Version,
			HasVersion:   call.HasVersion,
			Range:        call.Range,
			SourceRange:  call.SourceRange,
			VersionRange: call.VersionRange,
		})
	}
	return calls, diags
}
