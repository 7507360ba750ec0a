package repository

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/git/wildmatch"
	"github.com/cotterpin/cotter/internal/git/worktree"
	"github.com/cotterpin/cotter/internal/project/detect"
	"github.com/cotterpin/cotter/internal/project/policyfile"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// Roots finds the root modules in and below a directory. A directory is a root module if no
// other module below dir calls it by a local path, and it has at least one of these:
//
//   - module calls
//   - the configuration of a provider
//   - a backend or cloud block
//   - configuration next to a lock
//
// installer.Installer.InstallAll takes the result. Roots skips directories whose names begin with a dot, such
// as .terraform, and those that git certainly ignores or that the options exclude. It does not follow links. The
// paths begin with dir and are sorted.
//
// A directory whose configuration cannot be read counts as a root module: Install reports
// what is wrong with it. The installer provides the reader of the configuration. The error
// is about directories that cannot be listed, or the error of ctx.
func Roots(ctx context.Context, in *installer.Installer, dir string, o RootsOptions) ([]string, error) {
	dialect := o.Dialect
	return detect.Roots(ctx, dir, o.skip(ctx, dir), func(ctx context.Context, dir string) (detect.Module, error) {
		found, calls, err := readPlainCalls(ctx, in.Options().Config, dir, dialect)
		found.Root = calls > 0 || found.Unknown || installsProviders(ctx, dir, dialect)
		if _, noFile := os.Lstat(filepath.Join(dir, policy.FileName)); noFile == nil {
			replacing, _ := replacingDirs(dir)
			found.Calls = append(found.Calls, replacing...)
		}
		return found, err
	})
}

// RootsOptions say what [Roots] leaves out. The zero value works.
type RootsOptions struct {
	Dialect installer.Dialect
	// Exclude are patterns in the syntax of .gitignore for directories below the one of Roots.
	Exclude []string
	// LeftOut, if not nil, is called for each directory that git ignores or a pattern excludes, by its path from the
	// directory of Roots, with the reason.
	LeftOut func(dir, why string)
}

func (o RootsOptions) skip(ctx context.Context, dir string) func(string) bool {
	ignored, _ := worktree.IgnoredBelow(ctx, dir) // nil, which ignores nothing, if it is not known
	excluded := make([]wildmatch.Pattern, len(o.Exclude))
	for i, text := range o.Exclude {
		excluded[i] = wildmatch.Parse(strings.TrimSuffix(text, "/"))
	}
	leaveOut := func(dir, why string) bool {
		if o.LeftOut != nil {
			o.LeftOut(dir, why)
		}
		return true
	}
	var work wildmatch.Matcher
	return func(name string) bool {
		name = filepath.ToSlash(name)
		for i, pattern := range excluded {
			if pattern.Matches(name, &work) {
				return leaveOut(name, fmt.Sprintf("the setting exclude has %q", o.Exclude[i]))
			}
		}
		if rule := ignored.Rule(name); rule != nil {
			return leaveOut(name, fmt.Sprintf("git ignores it (%s:%d)", rule.File, rule.Line))
		}
		return false
	}
}

// ReadSettings returns the settings of the project in dir or, without a cotter.hcl, of COTTER_SETTINGS, for
// wrappers that copy root modules elsewhere. env returns the values of variables.
func ReadSettings(env func(string) string, dir string) (*policy.Settings, error) {
	return installer.ReadSettings(dir, env("COTTER_SETTINGS"))
}

// ReadLock returns the lock of the project in dir, which its settings may name.
func ReadLock(ctx context.Context, env func(string) string, dir string) (*lockfile.File, error) {
	found, err := ReadSettings(env, dir)
	if err != nil {
		return nil, err
	}
	return installer.ReadLock(ctx, installer.Project{Dir: dir, LockFile: found.LockFile})
}

// replacingDirs returns the directories that replace packages of a root module, as local paths, and
// those that have such directories below them. Faults of cotter.hcl are reported by the runs that apply
// it.
func replacingDirs(root string) (all, above []string) {
	replacements, err := policyfile.ReadReplacements(root)
	if err != nil {
		return nil, nil
	}
	return replacements.Directories()
}

// readPlainCalls is readLocalCalls for directories whose calls have literal sources, as
// nearly all do. It parses only what it needs, so it misses syntax errors.
func readPlainCalls(ctx context.Context, reader installer.ConfigReader, dir string, dialect installer.Dialect) (found detect.Module, calls int, err error) {
	settings := configread.Reader{Terraform: dialect == installer.DialectTerraform}.ReadSources(ctx, configread.Dir{Path: dir})
	if reader != nil || settings.Partial {
		return readLocalCalls(ctx, reader, dir, dialect)
	}
	for _, source := range settings.Sources {
		found.Calls = append(found.Calls, localPath(source)...)
	}
	return found, len(settings.Sources), ctx.Err()
}

// readLocalCalls returns the modules that the module in a directory calls by local paths,
// and the number of all of its calls.
func readLocalCalls(ctx context.Context, reader installer.ConfigReader, dir string, dialect installer.Dialect) (found detect.Module, calls int, err error) {
	if reader == nil {
		if reader, err = installer.DefaultConfigReader(installer.Project{Dir: dir}); err != nil {
			return detect.Module{}, 0, err
		}
	}
	module, diags := reader.ReadModule(ctx, config.Dir{Dir: dir, Display: dir, Terraform: dialect == installer.DialectTerraform})
	found.Unknown = diags.HasErrors()
	for _, call := range module.Calls {
		found.Calls = append(found.Calls, localPath(call.Source)...)
	}
	return found, len(module.Calls), nil
}

func lockFile(like installer.Project) string { return cmp.Or(like.LockFile, lockfile.Name) }

func below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// localPath returns the directory of this machine that a source address names, or nil.
func localPath(source string) []string {
	parsed, err := addrs.ParseModuleSource(source)
	if err != nil {
		return nil
	}
	switch parsed := parsed.(type) {
	case addrs.ModuleSourceLocal:
		return []string{parsed.String()}
	case addrs.ModuleSourceRemote:
		if dir := parsed.Package.LocalDirectory(); dir != "" {
			return []string{filepath.Join(dir, filepath.FromSlash(parsed.Subdir))}
		}
	}
	return nil
}

// installsProviders reports whether a directory without module calls is a root module that requires
// providers.
func installsProviders(ctx context.Context, dir string, dialect installer.Dialect) bool {
	reader, at := configread.Reader{Terraform: dialect == installer.DialectTerraform}, configread.Dir{Path: dir}
	if _, err := os.Lstat(filepath.Join(dir, lockfile.Name)); err == nil {
		empty, err := reader.Empty(at)
		return err == nil && !empty
	}
	return reader.HasRootBlocks(ctx, at)
}

// ChangedRoots returns the root modules in dirs that are affected by changed files. A root
// module is affected by changes to:
//
//   - its own files
//   - the files of modules that it calls by local paths, directly or through other local
//     modules, and of directories that replace packages of modules
//   - its lock
//   - the cotter.hcl that applies to it
//
// A file belongs to the innermost module directory that contains it, so a change in
// envs/prod does not affect a root module in envs. Files may have been deleted. like
// has the name of the lock and the dialect, which all of them share.
//
// A root module counts as changed if its configuration cannot be read, or if it has local
// paths that depend on the values of variables.
func ChangedRoots(ctx context.Context, in *installer.Installer, dirs, files []string, like installer.Project) ([]string, error) {
	roots := make(map[string]bool)
	for _, dir := range dirs {
		if real, err := pathsafe.Real(dir); err == nil {
			roots[real] = true
		}
	}
	read := func(ctx context.Context, dir string) (detect.Module, error) {
		found, _, err := readLocalCalls(ctx, in.Options().Config, dir, like.Dialect)
		if roots[dir] {
			replacing, _ := replacingDirs(dir)
			found.Calls = append(found.Calls, replacing...)
		}
		return found, err
	}
	return detect.ChangedRoots(ctx, dirs, files, read, func(root string, changed map[string]bool) bool { return hasChangedFile(root, changed, like) })
}

func hasChangedBelow(dir string, changed map[string]bool) bool {
	for file := range changed {
		if pathsafe.Within(filepath.ToSlash(file), filepath.ToSlash(dir)) {
			return true
		}
	}
	return false
}

func hasChangedFile(root string, changed map[string]bool, like installer.Project) bool {
	if changed[below(root, lockFile(like))] {
		return true
	}
	_, replacing := replacingDirs(root)
	for _, dir := range replacing {
		if hasChangedBelow(filepath.Join(root, filepath.FromSlash(dir)), changed) {
			return true
		}
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
