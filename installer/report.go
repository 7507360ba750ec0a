package installer

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/packagedir"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Report is the result of Verify.
type Report struct {
	// Complete says that everything was compared that Verify compares. Verify returns only
	// complete reports.
	Complete bool
	// Packages are all packages in the lock and all installed packages, in the order of
	// their keys.
	Packages []PackageReport
	// Directories are the entries of calls whose packages the project's cotter.hcl replaces by
	// directories of the repository, in the order of their keys. Their files are not locked.
	Directories []lockfile.Module
	// Providers are all providers in the lock, in its order. It is empty if the project has
	// no providers directory.
	Providers []ProviderReport
	// Stale lists the mismatches between the configuration and the lock: first
	// *ModuleErrors, then at most one *DialectError, then *ProviderErrors in the order of the
	// lock. Providers are compared only if the project has a providers directory.
	Stale []error
	// Lost is set if calls in Stale have no entry because the lock has lost all of its module
	// entries. Restore puts them back.
	Lost *LockedError
	// Warnings are what the user must know besides. They do not make the verification fail.
	Warnings []event.Warning
	// Misplaced lists records in modules.json, which stock tools use to find modules, that
	// do not match the configuration and the lock. For example, a record may name another
	// directory, whose files were not verified. They are *ModuleErrors in the order of the
	// modules' paths.
	Misplaced []error
	// Refused lists the providers and calls that the policy does not allow: *ProviderErrors
	// in the order of the lock, then *ModuleErrors in the order of the modules' paths. They
	// wrap *policy.Violation. Modules below such calls were not compared with the
	// configuration.
	Refused []error
	// Unread lists configuration that could not be read, for example because a variable has
	// no value, and was not compared with the lock. The elements are *ConfigErrors, and
	// *ProviderErrors about version constraints. They do not make the verification fail: the
	// installed packages were compared.
	Unread []error
	// Unfinished says that an installation was killed while it put modules in their places.
	// The next Install undoes its changes.
	Unfinished bool
	// Unproven lists files below .terraform that this user did not write for this project.
	// They were treated as if they did not exist.
	Unproven []string
}

// OK reports whether the report is complete, every package and provider is installed and
// matches the lock, and the lock matches this configuration, which the policy must allow. A
// zero Report is not OK.
func (r *Report) OK() bool { return len(r.Problems()) == 0 }

// Problems returns why the report is not OK: what it says about the whole project, then Refused, Stale
// and Misplaced, then a *[ModuleError] for each package that is not as in the lock, and a *[ProviderError]
// for each provider. A package or provider that is not installed is an error that wraps [ErrNotInstalled].
func (r *Report) Problems() []error {
	var all []error
	if !r.Complete {
		all = append(all, errors.New("not everything was compared"))
	}
	if r.Unfinished {
		all = append(all, errors.New("an installation was killed while it put modules in their places"))
	}
	all = slices.Concat(all, r.Refused, r.Stale, r.Misplaced)
	for _, p := range r.Packages {
		if err := problem(p.Status, p.Err); err != nil {
			all = append(all, &ModuleError{Path: p.Path, Err: err})
		}
	}
	for _, p := range r.Providers {
		if err := problem(p.Status, p.Err); err != nil {
			all = append(all, &ProviderError{Provider: p.Provider, Version: p.Version, Err: err})
		}
	}
	return all
}

// problem returns why an installed package is not as in the lock; nil if it is.
func problem(status Status, err error) error {
	switch {
	case err != nil:
		return err
	case status == StatusVerified:
		return nil
	case status == StatusMissing:
		return ErrNotInstalled
	}
	return fmt.Errorf("the installed files do not match the lock: %s", status)
}

// Status says how an installed package compares with the lock.
type Status int

// The statuses of a package.
const (
	// StatusUnknown is a package that was not compared with the lock.
	StatusUnknown Status = iota
	// StatusVerified is a package that matches the lock. Files that were added to it later
	// do not count unless they are configuration.
	StatusVerified
	// StatusChanged is a package with changed or missing files, or with added configuration
	// files.
	StatusChanged
	// StatusMissing is a package in the lock that is not installed.
	StatusMissing
	// StatusUnlocked is an installed package without an entry in the lock.
	StatusUnlocked
	// StatusFormer is a package that is exactly what this user's last run installed, while the
	// lock has another version now. For example, another branch was checked out since.
	StatusFormer
)

var statusNames = enum[Status]{"Status", []string{"unknown", "verified", "changed", "missing", "unlocked", "former"}}

// String returns the status in one word.
func (s Status) String() string { return statusNames.text(s) }

// MarshalText implements encoding.TextMarshaler. An unknown value is an error.
func (s Status) MarshalText() ([]byte, error) { return statusNames.marshal(s) }

// UnmarshalText implements encoding.TextUnmarshaler. An unknown text is an error.
func (s *Status) UnmarshalText(text []byte) error { return statusNames.unmarshal(text, s) }

// PackageReport says how one installed package compares with the lock.
type PackageReport struct {
	// Path is the path of the module call.
	Path addrs.Module
	// Vendored is the package's directory in Project.Vendor, relative to the root module's,
	// with slashes; "" if the project names none. In a vendored package, every added file
	// counts as a change.
	Vendored string
	Status   Status
	// Want are the hashes in the lock, and Got those of the installed files, of the same
	// schemes.
	Want, Got []hashing.Hash
	// Changes lists the files that differ. It is empty if no file differs, or if the sums
	// of the locked files are not stored in the project.
	Changes hashing.Changes
	// Err says why the installed files could not be read; nil if they could.
	Err error
	// Former is the entry that the package was installed from, if the package is exactly what
	// this user's last run installed, and Status is StatusFormer or StatusUnlocked. Otherwise
	// its Key is "".
	Former lockfile.Module
	// Evidence is who confirms the lock's entry, as far as is known without a request.
	Evidence evidence.Evidence
	// Unconfirmed says that, according to Options.StateDir, nothing has confirmed the
	// lock's entry for this user. For example, another tool may have installed it from an
	// edited lock. Vendored packages need no confirmation.
	Unconfirmed bool
}

// intact reports whether the package matches the lock.
func (p *PackageReport) intact() bool { return p.Status == StatusVerified && p.Err == nil }

// VendorError says that a package in Project.Vendor does not match the lock.
type VendorError struct {
	// Package says how it differs. Its Status is StatusMissing or StatusChanged, and Vendored its
	// directory.
	Package PackageReport
}

func (e *VendorError) Error() string {
	p := &e.Package
	if p.Status == StatusMissing {
		return fmt.Sprintf("the vendored package %s does not exist", p.Vendored)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the vendored package %s does not match the lock", p.Vendored)
	if p.Err != nil {
		fmt.Fprintf(&b, ": %s", p.Err)
	}
	changes := changesBelow(p.Vendored, p.Changes)
	if changes.Empty() && min(len(p.Want), len(p.Got)) > 0 {
		fmt.Fprintf(&b, "\n  expected: %s\n  got:      %s", p.Want[0], p.Got[0])
	}
	writeChanges(&b, changes)
	return b.String()
}

// Unwrap returns the error of reading the files; nil if they could be read.
func (e *VendorError) Unwrap() error { return e.Package.Err }

// changesBelow returns the changes with dir put in front of all paths.
func changesBelow(dir string, changes hashing.Changes) hashing.Changes {
	below := func(names []string) []string {
		var paths []string
		for _, name := range names {
			paths = append(paths, path.Join(dir, name))
		}
		return paths
	}
	return hashing.Changes{Changed: below(changes.Changed), Vanished: below(changes.Vanished), Added: below(changes.Added)}
}

// ProviderReport says how one installed provider compares with the lock.
type ProviderReport struct {
	Provider addrs.Provider
	// Version is the locked version.
	Version versions.Version
	// Status is StatusVerified, StatusChanged, StatusMissing or StatusFormer, or StatusUnknown
	// in a report that is not complete.
	Status Status
	// Former is the version that this user's last run installed, if Status is StatusFormer.
	Former versions.Version
	// Want are the hashes in the lock, and Got is the h1 hash of the installed provider.
	Want []hashing.Hash
	Got  hashing.Hash
	// Err says why the installed files could not be compared: they cannot be read, or the
	// lock has no hash that applies to them.
	Err error
	// Evidence is who confirms the package, for an installed provider that matches the lock,
	// as far as that is known without requests. Its kind is evidence.Project if the project
	// itself brings the package.
	Evidence evidence.Evidence
	// Unconfirmed says that, according to Options.StateDir, nothing is known to confirm the
	// package. For example, another tool may have installed it.
	Unconfirmed bool
}

// intact reports whether the provider is installed and matches the lock.
func (p *ProviderReport) intact() bool { return p.Status == StatusVerified && p.Err == nil }

// ErrNoComparableHash says that the lock has only hashes of a provider's archives, and that
// the content of these archives is not known.
var ErrNoComparableHash = treeproviders.ErrNoComparableHash

// statuses maps the statuses of packages that have an entry. Others are StatusUnknown.
var statuses = map[packagedir.Status]Status{
	packagedir.Verified: StatusVerified,
	packagedir.Changed:  StatusChanged,
	packagedir.Missing:  StatusMissing,
	packagedir.Former:   StatusFormer,
}
