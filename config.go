package cotter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/settings"
)

// ConfigReader reads the configuration of one directory. A tool that has a parser
// of its own brings its own.
type ConfigReader interface {
	// ReadModule returns what one module directory calls and requires. In one run it
	// is called once for each module, after its caller's, from several goroutines.
	// Diagnostics that are errors end an installation; those of warnings are passed
	// on.
	ReadModule(ctx context.Context, dir ConfigDir) (ModuleConfig, hcl.Diagnostics)
}

// ModuleConfig is what an installation needs to know of a module's configuration.
type ModuleConfig struct {
	// Calls are the module calls, sorted by name.
	Calls []ModuleCall
	// Providers are the provider requirements, in the order of files and lines. A
	// reader for programs that install no providers may leave them out.
	Providers []ProviderRequirement
	// ProviderDiagnostics are about the requirements alone: errors end an installation
	// of providers, but not one of modules.
	ProviderDiagnostics hcl.Diagnostics
}

// ConfigDir is a module's directory, as a ConfigReader gets it.
type ConfigDir struct {
	// Path is the module's path; empty for the root module.
	Path addrs.Module
	// Dir is where the files are now.
	Dir string
	// Boundary is the directory that links must not lead out of: the package's
	// root. "" means none, for the user's own files.
	Boundary string
	// Display is the directory as ranges must name it: where the files will be
	// when the run is over, relative to the root module.
	Display string
	// Dialect is the language that the configuration is written in.
	Dialect Dialect
	// Providers says that the run needs to know the provider requirements.
	Providers bool
}

// ModuleCall is one "module" block.
type ModuleCall struct {
	// Name is the block's label, or that of a test's run.
	Name string
	// Prefix are the names before Name in the path of a module that a test
	// runs: "test", the directories and the file. It is empty for all others.
	Prefix addrs.Module
	// Source is the source argument's value, not parsed yet.
	Source string
	// Version is the version argument's value where HasVersion says that
	// there is one.
	Version    string
	HasVersion bool
	// SourceComputed and VersionComputed say that the arguments are
	// expressions, so that messages should tell their values.
	SourceComputed, VersionComputed bool
	// Range is the block's header; SourceRange and VersionRange are the
	// arguments' expressions.
	Range, SourceRange, VersionRange hcl.Range
}

// ProviderRequirement is one place where a module requires a provider.
type ProviderRequirement = getproviders.ProviderRequirement

// pathIn is the path of the called module, by that of its caller.
func (c ModuleCall) pathIn(caller addrs.Module) addrs.Module {
	for _, name := range c.Prefix {
		caller = caller.Child(name)
	}
	return caller.Child(c.Name)
}

// byTest reports whether the module is called by a test.
func (c ModuleCall) byTest() bool { return len(c.Prefix) > 0 }

// maxWorkspace bounds the file that has the name of the selected workspace, in
// bytes.
const maxWorkspace = 4096

// workspace is the workspace of the request, or else the one that was selected
// with a stock tool.
func (r Request) workspace() (string, error) {
	if r.Inputs.Workspace != "" {
		return r.Inputs.Workspace, nil
	}
	data, err := opendir.Root(r.dataPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "default", nil
	}
	if err != nil {
		return "", err
	}
	defer data.Close()
	name, err := atomicfile.Read(data, "environment", maxWorkspace)
	if errors.Is(err, fs.ErrNotExist) {
		return "default", nil
	}
	return orElse(strings.TrimSpace(string(name)), "default"), err
}

// DefaultConfigReader returns the ConfigReader that an Installer without one
// uses for a request, for programs that wrap it:
//
//	reader, err := cotter.DefaultConfigReader(req)
//	in := cotter.Installer{Config: wrapper{reader}}
//	result, err := in.Install(ctx, req)
//
// It evaluates expressions with the request's variables, environment and
// workspace, and reads the tests in its test directory. It keeps what a module
// passes to the modules that it calls, so it is for one configuration: a request
// for another directory or with other variables needs another reader. It is safe
// for concurrent use.
//
// An error says why the selected workspace could not be read.
func DefaultConfigReader(req Request) (ConfigReader, error) { return newConfigReader(req) }

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
	inputs := configs.Inputs{Environment: req.Inputs.Environment, Workspace: workspace}
	for _, v := range req.Inputs.Variables {
		inputs.Variables = append(inputs.Variables, configs.Variable(v))
	}
	return &configReader{
		tests:  orElse(req.Inputs.TestDir, configs.DefaultTests),
		scopes: map[string]*configs.Scope{"": configs.NewRoot(inputs)},
	}, nil
}

// ReadModule makes configReader a ConfigReader.
func (c *configReader) ReadModule(ctx context.Context, dir ConfigDir) (ModuleConfig, hcl.Diagnostics) {
	reader := configs.Reader{Terraform: dir.Dialect == DialectTerraform, Providers: dir.Providers}
	from := configs.Dir{Path: dir.Dir, Boundary: dir.Boundary, Display: dir.Display, Scope: c.scope(dir.Path.String())}
	if dir.Path.IsRoot() {
		from.Tests = c.tests
	}
	module, diags := reader.Read(ctx, from)
	var found ModuleConfig
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
		found.Calls = append(found.Calls, m)
		c.setScope(m.pathIn(dir.Path).String(), call.Scope)
	}
	for _, required := range module.Providers {
		found.Providers = append(found.Providers, ProviderRequirement{
			Provider: required.Source, Constraint: required.Constraint, Implied: required.Implied, By: required.By, Range: required.Range,
		})
	}
	found.ProviderDiagnostics = module.ProviderDiags
	return found, diags
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

// ReadSettings returns the settings of the root module in dir: those in its cotter.hcl, or
// in the nearest one above it in the same git repository. Without such a file, or a
// settings block in it, nothing is set. The error is a *[policy.FileError], or that of
// reading the file.
//
// Runs do not apply them by themselves: they are for programs to put into requests.
func ReadSettings(dir string) (*settings.Settings, error) {
	files, err := project.FilesAbove(orElse(dir, "."), policy.FileName)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return &settings.Settings{}, nil
	}
	nearest := files[0]
	src, err := project.ReadRegular(nearest.Path, policy.MaxSize)
	if err != nil {
		return nil, err
	}
	found, diags := settings.Parse(src, filepath.ToSlash(nearest.Shown))
	if diags.HasErrors() {
		return nil, &policy.FileError{File: nearest.Shown, Diagnostics: diags}
	}
	found.InDir(filepath.Dir(nearest.Path))
	return found, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
