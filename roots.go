package cotter

import (
	"context"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/roots"
	"github.com/cotterpin/cotter/internal/vendordir"
	"github.com/cotterpin/cotter/policy"
)

// Roots finds the root modules at and below a directory: the directories with module
// calls, the configuration of a provider, a backend or cloud block, or configuration
// beside a lock, which no other one below dir calls by a local path. They are what
// InstallAll is for. Directories whose names begin with a dot are passed over,
// .terraform among them, as are directories of vendored packages, and links are not
// followed. The paths begin with dir and are sorted.
//
// Configuration that cannot be read makes its directory a root: Install says what is
// wrong with it. The error is about directories that cannot be listed, or ctx's.
func (in *Installer) Roots(ctx context.Context, dir string, dialect Dialect) ([]string, error) {
	return roots.Find(ctx, dir, vendordir.IsDir, func(ctx context.Context, dir string) (roots.Module, error) {
		found, calls, err := in.readPlainCalls(ctx, dir, dialect)
		found.Root = calls > 0 || found.Unknown || installsProviders(ctx, dir, dialect)
		return found, err
	})
}

// readPlainCalls is readLocalCalls for directories whose calls have literal sources, as
// nearly all have. It parses little, so it misses syntax errors.
func (in *Installer) readPlainCalls(ctx context.Context, dir string, dialect Dialect) (found roots.Module, calls int, err error) {
	settings := configs.Reader{Terraform: dialect == DialectTerraform}.ReadSources(ctx, configs.Dir{Path: dir})
	if in.Config != nil || settings.Partial {
		return in.readLocalCalls(ctx, dir, dialect)
	}
	for _, source := range settings.Sources {
		found.Calls = append(found.Calls, localPath(source)...)
	}
	return found, len(settings.Sources), ctx.Err()
}

// readLocalCalls reads which modules the one in a directory calls by local paths, and how
// many calls it has in all.
func (in *Installer) readLocalCalls(ctx context.Context, dir string, dialect Dialect) (found roots.Module, calls int, err error) {
	config, err := in.config(Request{Dir: dir})
	if err != nil {
		return roots.Module{}, 0, err
	}
	module, diags := config.ReadModule(ctx, ConfigDir{Dir: dir, Display: dir, Dialect: dialect})
	found.Unknown = diags.HasErrors()
	for _, call := range module.Calls {
		found.Calls = append(found.Calls, localPath(call.Source)...)
	}
	return found, len(module.Calls), nil
}

// localPath is the path in a source address that is a local one; nil for all others.
func localPath(source string) []string {
	parsed, err := addrs.ParseModuleSource(source)
	if local, ok := parsed.(addrs.ModuleSourceLocal); ok && err == nil {
		return []string{local.String()}
	}
	return nil
}

// installsProviders reports whether a directory without module calls looks like a root
// module, of which the providers are to be installed.
func installsProviders(ctx context.Context, dir string, dialect Dialect) bool {
	reader, at := configs.Reader{Terraform: dialect == DialectTerraform}, configs.Dir{Path: dir}
	if exists(filepath.Join(dir, lockFileName)) {
		empty, err := reader.Empty(at)
		return err == nil && !empty
	}
	return reader.HasRootBlocks(ctx, at)
}

// ChangedRoots returns those of the root modules in dirs that changed files concern: a
// root module's own files, those of modules that it calls by local paths, and they in
// turn, its lock, its vendored packages, and the cotter.hcl that applies to it. A file belongs to the innermost
// of all these modules' directories that has it, so a change in envs/prod does not
// concern a root module in envs. Files may be gone. The request says what the lock is
// called, and the dialect.
//
// A root module with configuration that cannot be read, or with local paths that are not
// known without values of variables, counts as changed.
func (in *Installer) ChangedRoots(ctx context.Context, dirs, files []string, req Request) ([]string, error) {
	read := func(ctx context.Context, dir string) (roots.Module, error) {
		found, _, err := in.readLocalCalls(ctx, dir, req.Dialect)
		return found, err
	}
	return roots.Changed(ctx, dirs, files, read, func(root string, changed map[string]bool) bool { return hasChangedFile(root, changed, req) })
}

// hasChangedPackage reports whether files of a root module's vendored packages are among
// changed files.
func hasChangedPackage(root string, changed map[string]bool, req Request) bool {
	req.Dir = root
	vendor, err := req.vendorDir()
	if err != nil || vendor == nil {
		return err != nil // the run says what is wrong
	}
	for file := range changed {
		if pathsafe.Within(filepath.ToSlash(file), filepath.ToSlash(vendor.Path())) {
			return true
		}
	}
	return false
}

// hasChangedFile reports whether the lock, the settings or the vendored packages of a root
// module are among changed files.
func hasChangedFile(root string, changed map[string]bool, req Request) bool {
	lock := req.lockFile()
	if !filepath.IsAbs(lock) {
		lock = filepath.Join(root, lock)
	}
	if changed[lock] || hasChangedPackage(root, changed, req) {
		return true
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if changed[filepath.Join(dir, policy.FileName)] {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
