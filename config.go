package cotter

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configs"
)

// configReader is the ConfigReader of an Installer that was given none. It is
// for one run: what a called module can refer to comes from reading its caller.
type configReader struct {
	tests string

	mu     sync.Mutex
	scopes map[string]*configs.Scope // by the modules' keys
}

func newConfigReader(req Request) (*configReader, error) {
	workspace, err := req.workspace()
	if err != nil {
		return nil, err
	}
	inputs := configs.Inputs{Environment: req.EnvVariables, Workspace: workspace}
	for _, v := range req.Variables {
		inputs.Variables = append(inputs.Variables, configs.Variable(v))
	}
	return &configReader{
		tests:  req.testDir(),
		scopes: map[string]*configs.Scope{"": configs.NewRoot(inputs)},
	}, nil
}

// ReadCalls makes configReader a ConfigReader.
func (c *configReader) ReadCalls(ctx context.Context, dir ConfigDir) ([]ModuleCall, hcl.Diagnostics) {
	reader := configs.Reader{Terraform: dir.Dialect == DialectTerraform}
	from := configs.Dir{Path: dir.Dir, Boundary: dir.Boundary, Display: dir.Display, Scope: c.scope(dir.Path.String())}
	if dir.Path.IsRoot() {
		from.Tests = c.tests
	}
	module, diags := reader.Read(ctx, from)
	var calls []ModuleCall
	for _, call := range module.Calls {
		m := ModuleCall{
			Name:            call.Name,
			Prefix:          call.Prefix,
			Source:          call.Source,
			Version:         call.Version,
			HasVersion:      call.HasVersion,
			SourceComputed:  call.SourceComputed,
			VersionComputed: call.VersionComputed,
			Range:           call.Range,
			SourceRange:     call.SourceRange,
			VersionRange:    call.VersionRange,
		}
		calls = append(calls, m)
		c.setScope(m.pathIn(dir.Path).String(), call.Scope)
	}
	return calls, diags
}

func (c *configReader) scope(key string) *configs.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scopes[key]
}

func (c *configReader) setScope(key string, scope *configs.Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scopes[key] = scope
}
