package cotter

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/policy"
)

// lockFileName is the lock of stock tools.
const lockFileName = ".terraform.lock.hcl"

// Request is what one run is about.
type Request struct {
	// Dir is the root module's directory; "" means the current one.
	Dir string
	// DataDir is the data directory of stock tools, relative to Dir; "" means
	// ".terraform".
	DataDir string
	// LockFile is the dependency lock, relative to Dir; "" means
	// ".terraform.lock.hcl".
	LockFile string
	// Locked installs exactly what the lock says or fails with *LockedError.
	// The lock is not written.
	Locked bool
	// Upgrade selects versions as if nothing was locked. UpgradeKeys does so for
	// these calls alone, by their paths with dots.
	Upgrade     bool
	UpgradeKeys []string
	// UpgradeTo is the version to select for the one call in UpgradeKeys; ""
	// means the newest that its constraint allows.
	UpgradeTo string
	// AllowDowngrade lets an upgrade lead to a lower version than the locked
	// one, which is an error over [ErrDowngrade] otherwise.
	AllowDowngrade bool
	// AcceptChanged are the calls, by their paths with dots, that may be locked
	// with other content under the same version, tag or address: see
	// [ContentChangedError].
	AcceptChanged []string
	// Unify makes all calls of one source share one version; where none suits
	// all of them, the error is a *[ConflictError].
	Unify bool
	// Submodules has the submodules of git repositories fetched as well. The
	// hashes in the lock cover them then, so it has to be the same in all runs.
	Submodules bool
	// Offline asks no server: what is neither installed nor in the cache is an
	// error over [ErrOffline].
	Offline bool
	// PolicyFile is the path of the policy, in the form of package policy. ""
	// means cotter.hcl in Dir, or the nearest one above it in the same git
	// repository, if there is one. Policies are to be obeyed as well.
	PolicyFile string
	Policies   []*policy.Policy
	// Layout is how packages are laid out; the zero value is LayoutLinks.
	Layout Layout
	// BestEffort makes Load return what it finds, with all else in
	// Result.Unresolved instead of an error. Other methods ignore it.
	BestEffort bool
	// Dialect says whose conventions apply; the zero value finds it out.
	Dialect Dialect
	// Tools are the stock tools that the user has, for finding out the dialect:
	// see [DialectAuto]. The command takes them from PATH.
	Tools []Dialect

	// Variables are the values of the root module's input variables, for the
	// sources and versions that depend on some. Of two for one variable the
	// later one counts, and both go before the module's own terraform.tfvars
	// and *.auto.tfvars. A value for a variable that does not exist, or that no
	// source or version needs, is not looked at.
	Variables []Variable
	// EnvVariables are values by the variables' names that give way to those
	// in the module's own files. The command takes them from TF_VAR_NAME.
	EnvVariables map[string]string
	// Workspace is the workspace's name; "" means the one that was selected
	// with a stock tool, or "default".
	Workspace string
	// TestDir is where the root module's tests are, beside those in Dir itself,
	// relative to Dir; "" means "tests". The modules that tests run are
	// installed too.
	TestDir string
}

// upgrades reports whether a call is to be selected anew.
func (r Request) upgrades(key string) bool { return r.Upgrade || slices.Contains(r.UpgradeKeys, key) }

func (r Request) dir() string      { return orElse(r.Dir, ".") }
func (r Request) dataDir() string  { return orElse(r.DataDir, ".terraform") }
func (r Request) lockFile() string { return orElse(r.LockFile, lockFileName) }

// dataPath is the data directory as this process reaches it.
func (r Request) dataPath() string {
	if filepath.IsAbs(r.dataDir()) {
		return r.dataDir()
	}
	return filepath.Join(r.dir(), r.dataDir())
}

// installDir is the directory of a call's package as modules.json names it.
func (r Request) installDir(key string) string {
	return path.Join(filepath.ToSlash(r.dataDir()), "modules", key)
}

// realInstallDir is installDir without symbolic links in the path of the data
// directory.
func (r Request) realInstallDir(key string) string {
	base, err := filepath.EvalSymlinks(r.dir())
	if err != nil {
		return r.installDir(key)
	}
	modules, err := resolveLinks(base, filepath.Join(r.dataDir(), "modules"))
	if err != nil {
		return r.installDir(key)
	}
	return path.Join(filepath.ToSlash(modules), key)
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
