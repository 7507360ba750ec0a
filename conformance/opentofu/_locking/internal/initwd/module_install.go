package initwd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/opentofu/internal/configs"
	"github.com/opentofu/opentofu/internal/configs/configload"
	"github.com/opentofu/opentofu/internal/getmodules"
	"github.com/opentofu/opentofu/internal/modsdir"
	"github.com/opentofu/opentofu/internal/registry"
	"github.com/opentofu/opentofu/internal/registry/response"
	"github.com/opentofu/opentofu/internal/tfdiags"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
)

// ModuleInstaller installs modules with Cotter.
type ModuleInstaller struct {
	modsDir string
	loader  *configload.Loader
	reg     *registry.Client
	fetcher *getmodules.PackageFetcher

	Locking Locking

	// These remember the answers of registries. Tests read them.
	registryPackageVersions map[addrs.ModuleRegistryPackage]*response.ModuleVersions
	registryPackageSources  map[moduleVersion]registry.PackageLocation
}

type moduleVersion struct {
	module  addrs.ModuleRegistryPackage
	version string
	subdir  string
}

// NewModuleInstaller returns an installer. Without a fetcher, only local modules can be installed,
// and without a client of registries no modules of registries.
func NewModuleInstaller(modsDir string, loader *configload.Loader, reg *registry.Client, fetcher *getmodules.PackageFetcher) *ModuleInstaller {
	return &ModuleInstaller{
		modsDir: modsDir, loader: loader, reg: reg, fetcher: fetcher,
		registryPackageVersions: make(map[addrs.ModuleRegistryPackage]*response.ModuleVersions),
		registryPackageSources:  make(map[moduleVersion]registry.PackageLocation),
	}
}

// InstallModules installs all modules that the root module calls, directly or not, and returns the
// configuration of all of them. With upgrade, the newest versions are selected. With
// installErrsOnly, errors of the whole configuration are warnings.
func (i *ModuleInstaller) InstallModules(ctx context.Context, rootDir, testsDir string, upgrade, installErrsOnly bool, hooks ModuleInstallHooks, call configs.StaticModuleCall) (*configs.Config, tfdiags.Diagnostics) {
	var diags tfdiags.Diagnostics
	root, rootDiags := i.loader.Parser().LoadConfigDirWithTests(rootDir, testsDir, call)
	diags = diags.Append(rootDiags)
	if hooks == nil {
		hooks = ModuleInstallHooksImpl{}
	}
	manifest := modsdir.Manifest{"": {Dir: rootDir}}
	run := i.moduleInstallWalker(ctx, manifest, upgrade, hooks, i.fetcher)
	run.locks = true
	run.installed, _ = modsdir.ReadManifestSnapshotForDir(i.modsDir) // Cotter reports a manifest that it cannot read
	config, installDiags := i.installDescendentModules(ctx, root, manifest, run, installErrsOnly)
	return config, append(diags, installDiags...)
}

// installation is one run of the installer.
type installation struct {
	*ModuleInstaller
	upgrade bool
	hooks   ModuleInstallHooks
	fetcher *getmodules.PackageFetcher
	locks   bool // DirFromModule locks nothing: it installs what it then copies

	installed modsdir.Manifest          // before the run
	failed    error                     // of installer.Installer
	warnings  hcl.Diagnostics           // of installer.Installer
	resolved  map[string]event.Resolved // by the module's key
	needed    map[string]string         // the key of the first module that needs a package, by its address
	verified  map[string]bool           // the keys of the modules that have the hashes of the lock
	changes   []installer.LockChange
	written   event.LockFileWritten // zero if the lock did not change
}

// moduleInstallWalker is also called by DirFromModule.
func (i *ModuleInstaller) moduleInstallWalker(_ context.Context, _ modsdir.Manifest, upgrade bool, hooks ModuleInstallHooks, fetcher *getmodules.PackageFetcher) *installation {
	return &installation{
		ModuleInstaller: i, upgrade: upgrade, hooks: hooks, fetcher: fetcher,
		resolved: make(map[string]event.Resolved), needed: make(map[string]string), verified: make(map[string]bool),
	}
}

// installDescendentModules is also called by DirFromModule. It adds the installed modules to
// manifest, which has the root module.
func (i *ModuleInstaller) installDescendentModules(ctx context.Context, root *configs.Module, manifest modsdir.Manifest, run *installation, installErrsOnly bool) (*configs.Config, tfdiags.Diagnostics) {
	var diags tfdiags.Diagnostics
	run.failed = run.install(ctx, root, manifest)
	diags = diags.Append(run.warnings)
	diags = diags.Append(installDiagnostics(run.failed))

	var loadDiags hcl.Diagnostics
	config, configDiags := configs.BuildConfig(ctx, root, configs.ModuleWalkerFunc(func(_ context.Context, req *configs.ModuleRequest) (*configs.Module, *version.Version, hcl.Diagnostics) {
		module, version, moreDiags := run.load(req, manifest)
		loadDiags = loadDiags.Extend(moreDiags)
		return module, version, moreDiags
	}))
	diags = diags.Append(configDiags)
	run.tellChanges()
	if installErrsOnly {
		if run.failed != nil || loadDiags.HasErrors() {
			return config, diags
		}
		diags = tfdiags.OverrideAll(diags, tfdiags.Warning, nil)
	}
	if run.failed == nil {
		// Cotter has written the same records, with directories relative to the root module.
		if err := manifest.WriteSnapshotToDir(i.modsDir); err != nil {
			diags = diags.Append(tfdiags.Sourceless(tfdiags.Error, "Failed to update module manifest", err.Error()))
		}
	}
	return config, diags
}

// install installs everything below the root module and adds it to manifest.
func (run *installation) install(ctx context.Context, root *configs.Module, manifest modsdir.Manifest) error {
	rootDir := manifest[""].Dir
	modsDir, err := relativeTo(rootDir, run.modsDir)
	if err != nil {
		return err
	}
	if run.upgrade && run.locks && run.Locking.Readonly {
		return errors.New("the -upgrade flag conflicts with -lockfile=readonly")
	}
	o := installer.Options{
		Config:         newConfigReader(run.loader.Parser(), root, run.canInstall),
		TrustInstalled: true,
		Trace:          traced,
	}
	if run.fetcher != nil {
		o.Fetcher = run.fetcher.Cotter()
	}
	if run.reg != nil {
		o.Registry = recorder{run.reg.Cotter(), run.ModuleInstaller, new(sync.Mutex)}
	}
	result, err := installer.New(o).Install(ctx, installer.Project{
		Dir:             rootDir,
		ModulesDir:      modsDir,
		NoLock:          !run.locks,
		LockHeader:      lockHeader,
		KeepCredentials: true,
		Submodules:      true,
		Layout:          installer.LayoutCopy,
		Dialect:         installer.DialectOpenTofu,
		OnEvent:         run.event,
	}, run.options())
	if result == nil {
		return err
	}
	run.changes = result.LockChanges
	for _, module := range result.Modules {
		record := modsdir.Record{
			Key:        module.Path.String(),
			SourceAddr: module.Source.String(),
			Dir:        run.moduleDir(rootDir, modsDir, filepath.FromSlash(module.Dir)),
		}
		if _, missing := os.Stat(record.Dir); missing != nil {
			continue // because of the error
		}
		record.Version, _ = version.NewVersion(module.Version.String()) // nil if the source has no versions
		manifest[record.Key] = record
	}
	return err
}

// lockHeader is the comment at the start of a dependency lock, as depsfile writes it.
const lockHeader = `# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.
`

// relativeTo returns the path of the modules directory relative to the root module if both are
// relative and it is below, and otherwise an absolute path. The records of earlier runs have the same
// form.
func relativeTo(rootDir, modsDir string) (string, error) {
	if below, err := filepath.Rel(rootDir, modsDir); err == nil && filepath.IsLocal(below) && !filepath.IsAbs(modsDir) {
		return below, nil
	}
	return filepath.Abs(modsDir)
}

// moduleDir returns the path of a module's directory, which begins with the path of the root module
// or with that of the modules directory.
func (run *installation) moduleDir(rootDir, modsDir, dir string) string {
	if below, err := filepath.Rel(modsDir, dir); err == nil && filepath.IsLocal(below) {
		return filepath.Join(run.modsDir, below)
	}
	if !filepath.IsAbs(dir) {
		return filepath.Join(rootDir, dir)
	}
	return dir
}

// canInstall reports whether the installer was given what a source needs, which is nothing for a
// module that is installed.
func (run *installation) canInstall(path addrs.Module, source addrs.ModuleSource) bool {
	if record, ok := run.installed[key(path)]; ok && !run.upgrade && record.SourceAddr == source.String() {
		return true
	}
	switch source.(type) {
	case addrs.ModuleSourceRegistry:
		return run.reg != nil && run.fetcher != nil
	case addrs.ModuleSourceRemote:
		return run.fetcher != nil
	}
	return true
}

// event tells OpenTofu's user what is downloaded, and collects the warnings.
func (run *installation) event(happened event.Event) {
	switch e := happened.(type) {
	case event.Resolved:
		run.resolved[e.Path.String()] = e
	case event.PackageNeeded:
		switch key := e.Path.String(); {
		case !run.locks:
			run.download(key, e.Package) // the caller of DirFromModule is not told about the first module of a package
		case run.needed[e.Package] == "":
			run.needed[e.Package] = key
		}
	case event.FetchStarted:
		if key, ok := run.needed[e.Package]; ok {
			run.download(key, e.Package)
		}
	case event.HashVerified:
		run.verified[e.Path.String()] = true
	case event.LockFileWritten:
		run.written = e
	case event.Warning:
		run.warnings = append(run.warnings, warningDiagnostic(e)...)
	}
}

func (run *installation) download(key, pkg string) {
	resolved := run.resolved[key]
	selected, _ := version.NewVersion(resolved.Version.String()) // nil if the source has no versions
	if source, err := addrs.ParseModuleSource(resolved.Source.String()); err == nil {
		switch s := source.(type) {
		case addrs.ModuleSourceRegistry:
			pkg = s.Package.String()
		case addrs.ModuleSourceRemote:
			pkg = s.Package.String()
		}
	}
	run.hooks.Download(key, pkg, selected)
}

// load loads an installed module for the configuration. Why a module is not installed was told before.
func (run *installation) load(req *configs.ModuleRequest, manifest modsdir.Manifest) (*configs.Module, *version.Version, hcl.Diagnostics) {
	key := manifest.ModuleKey(req.Path)
	if record, ok := manifest[key]; ok {
		module, diags := run.loader.Parser().LoadConfigDir(record.Dir, req.Call)
		if module == nil {
			return nil, nil, append(diags, diagnose(req, "Unreadable module directory", fmt.Errorf("the directory %s could not be read", record.Dir)))
		}
		run.hooks.Install(key, record.Version, record.Dir)
		run.tellVerified(key)
		return module, record.Version, diags
	}
	if req.SourceAddr != nil && !run.canInstall(req.Path, req.SourceAddr) {
		summary := "Remote module sources not supported"
		if _, ok := req.SourceAddr.(addrs.ModuleSourceRegistry); ok {
			summary = "Registry-style module sources not supported"
		}
		return nil, nil, hcl.Diagnostics{diagnose(req, summary, errors.New("only local modules are supported here"))}
	}
	return nil, nil, nil
}

func diagnose(req *configs.ModuleRequest, summary string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf("Module %q: %s.", req.Name, err),
		Subject:  req.CallRange.Ptr(),
	}
}

// isSubDirNonExistent reports whether a directory does not exist, and the first part of its path
// that is missing.
func isSubDirNonExistent(dir string) (bool, string) {
	missing := ""
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil:
			return missing != "" && info.IsDir(), missing
		case !os.IsNotExist(err) || dir == filepath.Dir(dir):
			return false, ""
		}
		missing = filepath.Base(dir)
	}
}

// sortedNames returns the names of a map in their order.
func sortedNames[T any](m map[string]T) []string {
	return slices.Sorted(maps.Keys(m))
}

// runModulePath returns the path of the module that a run block of a test file calls.
func runModulePath(file, run string) addrs.Module {
	path := addrs.Module{"test"}
	if dir := filepath.ToSlash(filepath.Dir(file)); dir != "." {
		path = append(path, strings.Split(dir, "/")...)
	}
	return append(path, strings.TrimSuffix(filepath.Base(file), ".tftest.hcl"), run)
}
