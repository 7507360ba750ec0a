package installer

import (
	"cmp"
	"context"
	"os"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/policyfile"
	"github.com/cotterpin/cotter/policy"
)

// ConfigReader reads the configuration of one directory. Tools with their own parser can bring their own.
type ConfigReader = config.Reader

// ProviderRequirement is one place where a module requires a provider.
type ProviderRequirement = config.ProviderRequirement

// workspace returns the workspace of the inputs, or else the one that was selected with a stock tool.
func (p Project) workspace() (string, error) {
	if p.Inputs.Workspace != "" {
		return p.Inputs.Workspace, nil
	}
	return project.Workspace(p.dataPath())
}

// DefaultConfigReader returns the ConfigReader that an Installer without a Config uses for a project, for
// programs that wrap it. It evaluates expressions with the project's Inputs, and reads the tests in their test
// directory. It remembers what it has read, so another project or changed files need another reader. It is safe
// for concurrent use. The error says why the selected workspace could not be read.
func DefaultConfigReader(p Project) (ConfigReader, error) {
	workspace, err := p.workspace()
	if err != nil {
		return nil, err
	}
	return configread.NewTree(p.inputsIn(workspace)), nil
}

func (p Project) inputsIn(workspace string) config.Inputs {
	inputs := p.Inputs
	inputs.Workspace = workspace
	return inputs
}

// ReadSettings returns the settings for the root module in dir: those in cotter.hcl there or in the nearest one
// above it in the same git repository, or else in the file fallback, unless that is "". Without any, the result
// is empty. Runs do not apply settings: programs must put them into projects. The error is a
// *[policy.FileError], or that of reading the file.
func ReadSettings(dir, fallback string) (*policy.Settings, error) {
	return policyfile.ReadSettings(cmp.Or(dir, "."), fallback)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// pinnedReader reads calls as if pins had been edited. A call in a package has another file than each pin.
type pinnedReader struct {
	ConfigReader
	pins map[hcl.Range]Pin // by the ranges of their strings
}

func editedReader(reader ConfigReader, pins []Pin) ConfigReader {
	at := make(map[hcl.Range]Pin)
	for _, pin := range pins {
		if pin.Outdated() && pin.LatestValue != "" && pin.Range.Filename != "" {
			at[pin.Range] = pin
		}
	}
	if len(at) == 0 {
		return reader
	}
	return pinnedReader{reader, at}
}

func (r pinnedReader) ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	module, diags := r.ConfigReader.ReadModule(ctx, dir)
	module.Calls = slices.Clone(module.Calls)
	for i, call := range module.Calls {
		if pin, ok := r.pins[call.SourceRange]; ok {
			if edited, ok := addrs.ReplaceArg(call.Source, pin.Argument, pin.LatestValue); ok {
				module.Calls[i].Source = edited
			}
		}
		if pin, ok := r.pins[call.VersionRange]; ok {
			module.Calls[i].Version = &pin.LatestValue
		}
	}
	return module, diags
}

// rootReader reads the root module only once, because a file of variable values may be a pipe.
type rootReader struct {
	ConfigReader

	mu sync.Mutex
	// dir is the argument of the last read of the root module; its Dir is "" before that.
	dir    config.Dir
	module config.Module
	diags  hcl.Diagnostics
}

func (r *rootReader) ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	if !dir.Path.IsRoot() {
		return r.ConfigReader.ReadModule(ctx, dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dir.Dir == "" || dir.Providers && !r.dir.Providers {
		r.dir = dir
		r.module, r.diags = r.ConfigReader.ReadModule(ctx, dir)
	}
	return r.module, r.diags
}
