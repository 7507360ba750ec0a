package cotter

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/pkgtree"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/versions"
)

// The kinds of failure that callers tell apart with errors.Is. No error of this
// package says what to do next: that depends on the program. What a program needs
// for that is in the errors' fields.
var (
	// ErrCycle says that a module calls itself, directly or not.
	ErrCycle = errors.New("the module calls itself")
	// ErrEscapesPackage says that a local source address points out of the
	// package that its module is part of.
	ErrEscapesPackage = errors.New("local module path escapes module package")
	// ErrNoSubdir says that a package lacks the directory that its module was
	// said to be in.
	ErrNoSubdir = pkgtree.ErrNoSubdir
	// ErrSameKey says that two module calls would be installed in one place.
	ErrSameKey = errors.New("two module calls have the same key")
	// ErrTooManyModules says that the module tree is larger than the limits.
	ErrTooManyModules = errors.New("the module tree is too large")
	// ErrOffline says that a request to a server would be needed and that
	// Request.Offline is set.
	ErrOffline = origins.ErrOffline
	// ErrNoSuchCall says that a request names a module call that the
	// configuration does not have.
	ErrNoSuchCall = errors.New("the configuration has no such module call outside the project")
	// ErrMisplaced says that modules.json, by which stock tools find modules, is
	// not what an installation by the lock writes.
	ErrMisplaced = errors.New("modules.json does not match the lock")
	// ErrDowngrade says that an update would select a lower version than the locked
	// one, which the request does not allow. The error is a *DowngradeError.
	ErrDowngrade = versions.ErrDowngrade
	// ErrNoSuchProvider says that no module requires a provider that the request
	// names.
	ErrNoSuchProvider = treeproviders.ErrNotRequired
	// ErrLegacyProvider says that the state has a provider's address of the form that
	// early versions of Terraform had, without a namespace.
	ErrLegacyProvider = localstate.ErrLegacyProvider
	// ErrNotInstalled says that a module is not in its place.
	ErrNotInstalled = errors.New("module not installed")
)

// ModuleError is what went wrong with one module call. Everything that
// Install returns about a single module is one, alone or joined with others in
// the order of their paths; it wraps *getmodules.FetchError,
// *registryclient.RequestError, *versions.NoMatchError, *HashMismatchError, an
// address or constraint error, or a sentinel of this package.
type ModuleError struct {
	// Path is the called module's path.
	Path addrs.Module
	// Source is the source argument, without credentials.
	Source string
	// Range is the call, or the argument that is at fault; empty if the
	// configuration has no such call.
	Range hcl.Range
	Err   error
}

func (e *ModuleError) Error() string {
	if e.Range.Filename == "" {
		return fmt.Sprintf("module %s: %s", e.Path, e.Err)
	}
	return fmt.Sprintf("module %s (%s:%d): %s", e.Path, e.Range.Filename, e.Range.Start.Line, e.Err)
}

func (e *ModuleError) Unwrap() error { return e.Err }

// ConfigError is a module's configuration that could not be read. It wraps
// hcl.Diagnostics, whose ranges name files relative to the root module.
type ConfigError struct {
	// Path is the path of the module whose files these are.
	Path        addrs.Module
	Diagnostics hcl.Diagnostics
}

func (e *ConfigError) Error() string { return e.Diagnostics.Error() }
func (e *ConfigError) Unwrap() error { return e.Diagnostics }

// LockFileError is a lock file that cannot be used as it is. It wraps
// hcl.Diagnostics.
type LockFileError struct {
	File        string
	Diagnostics hcl.Diagnostics
}

func (e *LockFileError) Error() string { return e.Diagnostics.Error() }
func (e *LockFileError) Unwrap() error { return e.Diagnostics }

// HashMismatchError says that a package is not what the lock says. Nothing was
// installed and the lock was not touched.
type HashMismatchError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Package is the package that was fetched, redacted.
	Package string
	// Want is what the lock says, Got what was fetched, of the same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart. It is empty where the former files' sums
	// are not known.
	Changes hashing.Changes
	// Gitlinks are submodules that were left out of the package. If the lock was
	// made with Request.Submodules, that is the difference.
	Gitlinks []string
}

func (e *HashMismatchError) Error() string {
	var b strings.Builder
	b.WriteString("Module checksum verification failed: the package does not have the checksum of the lock file; it was changed at its origin or tampered with")
	for i := range e.Want {
		fmt.Fprintf(&b, "\n  expected: %s\n  got:      %s", e.Want[i], e.Got[i])
	}
	writeChanges(&b, e.Changes)
	if len(e.Gitlinks) > 0 {
		fmt.Fprintf(&b, "\n  its submodules were left out (%q among them)", e.Gitlinks[0])
	}
	return b.String()
}

// LockedError says that the lock would have to change, which the request
// forbids.
type LockedError struct {
	LockFile string
	// Reasons say for each key, in order, what is wrong.
	Reasons []LockedReason
}

// LockedReason is why one entry of the lock is not enough.
type LockedReason struct {
	// Key is the path of the module call with dots; "" for an entry of a provider,
	// which Provider names.
	Key      string
	Provider addrs.Provider
	Range    hcl.Range // the call or the requirement; empty for an entry without one
	Reason   string
	// Missing says that the lock has no entry. Restore may have one.
	Missing bool
}

// Subject names what the entry is for: "module app.network", "provider acme/cloud".
func (r LockedReason) Subject() string {
	if r.Key != "" {
		return "module " + r.Key
	}
	return "provider " + r.Provider.ForDisplay()
}

func (e *LockedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s does not match the configuration and must not change in this mode", e.LockFile)
	for _, r := range e.Reasons {
		fmt.Fprintf(&b, "\n  %s", r.Subject())
		if r.Range.Filename != "" {
			fmt.Fprintf(&b, " (%s:%d)", r.Range.Filename, r.Range.Start.Line)
		}
		fmt.Fprintf(&b, ": %s", r.Reason)
	}
	return b.String()
}

// LostEntriesError says that the lock has lost all of its module entries since the
// last run, and may not change. Restore puts them back.
type LostEntriesError struct {
	LockFile string
}

func (e *LostEntriesError) Error() string {
	return fmt.Sprintf("the module entries of %s have vanished, as when tofu or terraform rewrite it", e.LockFile)
}

// StaleError says that an entry of the lock and the configuration do not fit
// together. Install brings the lock up to date.
type StaleError struct {
	Reason string
}

func (e *StaleError) Error() string { return e.Reason }

// LinkedLockError says that the lock file is a symbolic link. Stock tools replace
// such a link by a file when they write the lock, so that its target gets stale.
type LinkedLockError struct {
	// File is the lock file, and Target the link's text.
	File, Target string
	// Inside is the path of the target relative to the root module, with forward
	// slashes, which Request.LockFile can name; "" if the target is not below it.
	Inside string
	// Err is why the file was refused.
	Err error
}

func (e *LinkedLockError) Error() string {
	return fmt.Sprintf("the lock file cannot be used: %s", e.Err)
}
func (e *LinkedLockError) Unwrap() error { return e.Err }

// DowngradeError says that an update would select a lower version than the locked
// one. It wraps [ErrDowngrade]; Update.AllowDowngrade allows it.
type DowngradeError = versions.DowngradeError

// ContentChangedError says that what is never to change has other content than the
// lock: a version was published again, a version tag was moved, or an archive was
// replaced. An update that takes it needs Update.AcceptChanged.
type ContentChangedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Name is the version, the tag or the address.
	Name string
	// Locked and Now are the commits or digests, or for archives the h1 hashes,
	// of the lock and of the origin.
	Locked, Now string
}

func (e *ContentChangedError) Error() string { return e.Change() }

// Change is the change in a few words.
func (e *ContentChangedError) Change() string {
	return fmt.Sprintf("%s has OTHER CONTENT than the lock (%s -> %s)", e.Name, shortIdentity(e.Locked), strings.TrimPrefix(shortIdentity(e.Now), "commit "))
}

// MovedError says that the name by which a package was locked leads elsewhere
// than the lock: somebody has moved a tag, a registry has another answer, or the
// lock was edited. An update that takes it needs Update.AcceptChanged.
type MovedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Name is the name: "tag v1.2.0", "commit 7c1f...", "digest sha256:...".
	Name string
	// Locked is the revision that the lock has, Now the one that the name leads
	// to.
	Locked, Now string
}

func (e *MovedError) Error() string {
	if strings.HasSuffix(e.Name, e.Now) { // it names what it points to
		return fmt.Sprintf("the lock has %s, and the source means %s: the lock was edited, or the registry has another answer now", e.Locked, e.Name)
	}
	return fmt.Sprintf("%s moved %s -> %s, or the lock was edited", e.Name, e.Locked, e.Now)
}

// HostChangedError says that a call without a registry host would get its module
// from another registry than the lock has, because another stock tool's
// conventions apply than did when it was locked. Request.Dialect decides.
type HostChangedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Locked is the host in the lock, and Now the one that the call would mean.
	Locked, Now string
	// Dialect is the one by which the lock's host is meant. The other one changes the
	// registry.
	Dialect Dialect
}

func (e *HostChangedError) Error() string {
	return fmt.Sprintf("the lock has it from %s, and it would now come from %s, though the call is the same: the lock was made by the conventions of %s",
		e.Locked, e.Now, e.Dialect)
}

// SubmoduleError says that a module is in a git submodule that was not fetched,
// for want of Request.Submodules.
type SubmoduleError = getmodules.SubmoduleError

// VendorError is a package in Request.Vendor that is not what the lock says.
type VendorError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Dir is the package's directory, relative to the root module's, with slashes.
	Dir string
	// Missing says that it does not exist.
	Missing bool
	// Want are the lock's hashes, Got those of the files, of the same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart, by paths in Dir. It is empty if the sums of the
	// locked files are not in Request.Vendor: if the lock has another package, say.
	Changes hashing.Changes
	// Err is why the files could not be read, if they could not.
	Err error
}

func (e *VendorError) Error() string {
	if e.Missing {
		return fmt.Sprintf("the vendored package %s does not exist", e.Dir)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the vendored package %s is not what the lock says", e.Dir)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %s", e.Err)
	}
	changes := changesBelow(e.Dir, e.Changes)
	if changes.Empty() && len(e.Want) > 0 {
		fmt.Fprintf(&b, "\n  expected: %s\n  got:      %s", e.Want[0], e.Got[0])
	}
	writeChanges(&b, changes)
	return b.String()
}

func (e *VendorError) Unwrap() error { return e.Err }

// changesBelow returns changes by paths that begin with a directory.
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

// errRefused marks a call that is among the refusals.
var errRefused = errors.New("the lock may not change")

// maxListed is how many changed files a message names before it counts.
const maxListed = 20

func writeChanges(b *strings.Builder, changes hashing.Changes) {
	for _, change := range listChanges(changes) {
		b.WriteString("\n  " + change)
	}
}

// listChanges says for each file what became of it, as far as a message may be
// long.
func listChanges(changes hashing.Changes) []string {
	var list []string
	for _, group := range []struct {
		label string
		files []string
	}{{"changed", changes.Changed}, {"vanished", changes.Vanished}, {"added", changes.Added}} {
		for _, file := range group.files {
			if len(list) == maxListed {
				return append(list, "...")
			}
			list = append(list, fmt.Sprintf("%s: %q", group.label, file))
		}
	}
	return list
}

// shortIdentity is a commit, digest or hash as a message shows it.
func shortIdentity(id string) string {
	const commit, digits = 7, 12
	switch scheme, value, found := strings.Cut(id, ":"); {
	case found && hashing.Hash(id).Known(), found && len(value) > digits:
		return scheme + ":" + value[:min(digits, len(value))]
	case len(id) > commit:
		return "commit " + id[:commit]
	}
	return id
}

// ProviderError is what went wrong with one provider. It wraps an error of package
// getproviders, *registryclient.RequestError, the errors of package versions,
// *policy.Violation, *UnknownProviderError, *UnusableVersionError, or a sentinel of this
// package.
type ProviderError = getproviders.ProviderError

// UnknownProviderError says that no source has a provider, and what is known of others
// that may be meant.
type UnknownProviderError = getproviders.UnknownProviderError

// UnusableVersionError says that a version of a provider has no package that can be used
// here, and which version has.
type UnusableVersionError = getproviders.UnusableVersionError
