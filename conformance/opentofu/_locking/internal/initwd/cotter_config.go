package initwd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/configs"
	"github.com/opentofu/opentofu/internal/modsdir"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/installer/config"
)

// configReader reads the calls of modules for Cotter with OpenTofu's own parser, so that
// expressions in sources and versions mean the same in both. Diagnostics about the configuration
// are left to configs.BuildConfig, which reads the installed files.
type configReader struct {
	root       *configs.Module
	canInstall func(addrs.Module, addrs.ModuleSource) bool

	mu     sync.Mutex // parsers are not safe for concurrent use
	parser *configs.Parser
	calls  map[string]configs.StaticModuleCall // by key, of the modules whose callers were read
}

func newConfigReader(parser *configs.Parser, root *configs.Module, canInstall func(addrs.Module, addrs.ModuleSource) bool) *configReader {
	return &configReader{root: root, canInstall: canInstall, parser: parser, calls: make(map[string]configs.StaticModuleCall)}
}

func (r *configReader) ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found config.Module
	module := r.root
	if len(dir.Path) > 0 {
		module, _ = r.parser.LoadConfigDir(dir.Dir, r.calls[key(addrs.Module(dir.Path))])
	}
	if module == nil {
		return found, nil
	}
	for _, name := range sortedNames(module.ModuleCalls) {
		call := module.ModuleCalls[name]
		path := append(slices.Clone(addrs.Module(dir.Path)), name)
		r.calls[key(path)] = configs.NewStaticModuleCall(path, call.DeclRange, call.Variables, r.root.SourceDir, call.Workspace)
		r.add(&found, path, nil, call.SourceAddr, call.Version, displayed(call.DeclRange, dir))
	}
	if len(dir.Path) == 0 {
		r.addTests(ctx, &found)
	}
	return found, nil
}

// key returns the path of a module as manifests write it. Its method String has another form.
func key(path addrs.Module) string { return modsdir.Manifest(nil).ModuleKey(path) }

// addTests adds the modules that tests of the root module call.
func (r *configReader) addTests(ctx context.Context, found *config.Module) {
	for _, file := range sortedNames(r.root.Tests) {
		for _, run := range r.root.Tests[file].Runs {
			if run.Module == nil {
				continue
			}
			path := runModulePath(file, run.Name)
			variables := func(v *configs.Variable) (cty.Value, hcl.Diagnostics) {
				if expr, ok := run.Variables[v.Name]; ok {
					id := configs.StaticIdentifier{Module: path, Subject: fmt.Sprintf("var.%s", v.Name), DeclRange: expr.Range()}
					return r.root.StaticEvaluator.Evaluate(ctx, expr, id)
				}
				if v.Default != cty.NilVal {
					return v.Default, nil
				}
				return cty.DynamicVal, nil
			}
			r.calls[key(path)] = configs.NewStaticModuleCall(path, run.Module.DeclRange, variables, r.root.SourceDir, "")
			r.add(found, path, path[:len(path)-1], run.Module.Source, run.Module.Version, run.Module.DeclRange)
		}
	}
}

// add adds a call, unless the configuration's own errors are about it or it cannot be installed here.
func (r *configReader) add(found *config.Module, path, prefix addrs.Module, source addrs.ModuleSource, version configs.VersionConstraint, at hcl.Range) {
	name := path[len(path)-1]
	if source == nil || !hclsyntax.ValidIdentifier(name) || !r.canInstall(path, source) {
		return
	}
	call := config.Call{
		Name:   name,
		Prefix: slices.Clone([]string(prefix)),
		Source: source.String(),
		// OpenTofu has evaluated it, and does not say whether it was a literal.
		SourceComputed: true,
		Range:          at,
		SourceRange:    at,
		VersionRange:   at,
	}
	if len(version.Required) > 0 {
		constraint := version.Required.String()
		call.Version = &constraint
	}
	found.Calls = append(found.Calls, call)
}

// displayed returns a range with the name that the file has after the installation.
func displayed(at hcl.Range, dir config.Dir) hcl.Range {
	if len(dir.Path) > 0 {
		at.Filename = filepath.Join(filepath.FromSlash(dir.Display), filepath.Base(at.Filename))
	}
	return at
}
