package installer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/hcldepth"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/treeproviders"
)

// Kinds of failure that callers distinguish with errors.Is. No error of this package says
// what to do next, because that depends on the program. The fields of the errors contain
// what a program needs to say it.
var (
	// ErrCycle says that a module calls itself, directly or through other modules.
	ErrCycle = errors.New("the module calls itself")
	// ErrEscapesPackage says that a local source address points outside the package that
	// contains its module.
	ErrEscapesPackage = errors.New("local module path escapes module package")
	// ErrNoSubdir says that a package does not have the directory in which its module
	// should be.
	ErrNoSubdir = store.ErrNoSubdir
	// ErrUnknownCaller says that a [Session] was asked for the module of a call whose caller's module
	// was not found in this session before.
	ErrUnknownCaller = errors.New("the session has not found the module that has this call")
	// ErrSameKey says that two module calls would be installed in the same directory.
	ErrSameKey = errors.New("two module calls have the same key")
	// ErrTooManyModules says that the module tree exceeds the limits.
	ErrTooManyModules = errors.New("the module tree is too large")
	// ErrOffline says that a server would have to be contacted, but InstallOptions.Offline is set.
	ErrOffline = origins.ErrOffline
	// ErrNoSuchCall says that the options name a module call that the configuration does not
	// have, or whose module is local.
	ErrNoSuchCall = errors.New("the configuration has no such module call, or the module is local")
	// ErrMisplaced says that modules.json, which stock tools use to find modules, does not
	// have what an installation from the lock would write.
	ErrMisplaced = errors.New("modules.json does not match the lock")
	// ErrNoSuchProvider says that the options name a provider that no module requires.
	ErrNoSuchProvider = treeproviders.ErrNotRequired
	// ErrLegacyProvider says that the state contains a provider address in the form of
	// early Terraform versions, without a namespace.
	ErrLegacyProvider = localstate.ErrLegacyProvider
	// ErrNotInstalled says that a module is not installed in its directory.
	ErrNotInstalled = errors.New("module not installed")
)

// ModuleError is an error about one module call. Every error that Install returns about a
// single module is a ModuleError, on its own or joined with others in the order of their
// paths. It wraps a *getmodules.FetchError, *getmodules.SubmoduleError,
// *registryclient.RequestError, *versions.NoMatchError, *versions.DowngradeError, *HashMismatchError, an address or constraint error, or a sentinel
// error of this package.
type ModuleError struct {
	// Path is the called module's path.
	Path addrs.Module
	// Source is the source argument, without credentials.
	Source string
	// Range is the call, or the argument that caused the error. It is empty if the
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

// ConfigError says that a module's configuration could not be read. It wraps
// hcl.Diagnostics, whose ranges name files relative to the root module. errors.As and errors.Is
// also find the errors in the Extra of the diagnostics, such as *config.FileReadError.
type ConfigError struct {
	// Path is the path of the module that the files belong to.
	Path        addrs.Module
	Diagnostics hcl.Diagnostics
}

// Error returns all errors among the diagnostics, one a line.
func (e *ConfigError) Error() string { return hcldepth.ErrorText(e.Diagnostics) }
func (e *ConfigError) Unwrap() error { return e.Diagnostics }

// As is called by errors.As, and Is by errors.Is.
func (e *ConfigError) As(target any) bool { return hcldepth.ErrorAs(e.Diagnostics, target) }

// Is reports whether a diagnostic has the target in its Extra.
func (e *ConfigError) Is(target error) bool { return hcldepth.ErrorIs(e.Diagnostics, target) }

// HashMismatchError says that a package does not have the hashes of the lock. Nothing was
// installed, and the lock was not changed.
type HashMismatchError struct {
	// Path is the path of the module call.
	Path addrs.Module
	// Package is the package that was fetched, redacted.
	Package string
	// Want are the hashes in the lock, and Got those of the fetched package, of the same
	// schemes.
	Want, Got []hashing.Hash
	// Changes lists the files that differ. It is empty if the sums of the former files are
	// not known.
	Changes hashing.Changes
	// Gitlinks are submodules that were left out of the package. If the lock was made with
	// Project.Submodules, they are the cause of the mismatch.
	Gitlinks []string
}

func (e *HashMismatchError) Error() string {
	var b strings.Builder
	b.WriteString("Module checksum verification failed: the package does not have the checksum of the lock file; it was changed at its origin or tampered with")
	for i := range min(len(e.Want), len(e.Got)) {
		fmt.Fprintf(&b, "\n  expected: %s\n  got:      %s", e.Want[i], e.Got[i])
	}
	writeChanges(&b, e.Changes)
	if len(e.Gitlinks) > 0 {
		fmt.Fprintf(&b, "\n  its submodules were left out (%q among them)", e.Gitlinks[0])
	}
	return b.String()
}

// LockedError says that the lock would have to change, which the run may not do.
type LockedError struct {
	LockFile string
	// Reasons say what is wrong, for each key in order.
	Reasons []LockedReason
	// Earlier names an earlier version of a lock file that does not exist or has lost its entries:
	// "the copy of the last run" or "commit 3f2a91c (2026-10-02)". It is "" if there is none.
	// Restore can take the entries from there.
	Earlier string
	// Lost says that the lock has lost all of its module entries, as happens when a stock tool rewrites
	// it. Earlier names where they are, and Restore puts them back. Reasons is empty.
	Lost bool
}

// LockedReason says why one entry of the lock cannot be used as it is.
type LockedReason struct {
	// Path is the path of the module call. It is empty for the entry of a provider, which
	// Provider names.
	Path     addrs.Module
	Provider addrs.Provider
	Range    hcl.Range // the source or version of the call, or the requirement; empty for an entry without one
	Reason   string
	// Missing says that the lock has no entry. Restore may be able to put it back.
	Missing bool
}

// String returns the reason with its subject and its place, such as
// "module net (main.tf:3): the lock has no entry for it".
func (r LockedReason) String() string {
	subject := "provider " + r.Provider.ForDisplay()
	if !r.Path.IsRoot() {
		subject = "module " + r.Path.String()
	}
	if r.Range.Filename == "" {
		return fmt.Sprintf("%s: %s", subject, r.Reason)
	}
	return fmt.Sprintf("%s (%s:%d): %s", subject, r.Range.Filename, r.Range.Start.Line, r.Reason)
}

// Error returns the reasons after the first line, one a line.
func (e *LockedError) Error() string {
	text := e.LockFile + " does not match the configuration and must not change in this mode"
	if e.Lost {
		text = fmt.Sprintf("the module entries of %s have vanished, as happens when tofu or terraform rewrite it", e.LockFile)
		if e.Earlier != "" && e.Earlier != fromCopy {
			text += "; " + e.Earlier + " has them"
		}
	}
	for _, r := range e.Reasons {
		text += "\n  " + r.String()
	}
	return text
}

// StaleError says that an entry of the lock does not match the configuration. Install
// updates the lock.
type StaleError struct {
	Reason string
}

func (e *StaleError) Error() string { return e.Reason }

// LinkedLockError says that the lock file is a symbolic link. Stock tools replace such a
// link with a file when they write the lock, and the target of the link becomes outdated.
type LinkedLockError struct {
	// File is the lock file, and Target the text of the link.
	File, Target string
	// Inside is the path of the target relative to the root module, with forward slashes,
	// which Project.LockFile can name. It is "" if the target is not below the root module.
	Inside string
	// Err says why the file was refused.
	Err error
}

func (e *LinkedLockError) Error() string {
	return fmt.Sprintf("the lock file cannot be used: %s", e.Err)
}
func (e *LinkedLockError) Unwrap() error { return e.Err }

// ContentChangedError says that something that must not change has different content than when it
// was locked: a version was published again, a version tag was moved, or an archive was replaced.
// It may also be the lock that was edited. Update.AcceptChanged allows an update to the new content.
type ContentChangedError struct {
	// Path is the path of the module call.
	Path addrs.Module
	// Name is the version, the tag, the commit, the digest or the address: "1.2.0", "tag v1.2.0".
	Name string
	// Locked and Now are the revisions in the lock and at the origin: commits or digests,
	// or the h1 hashes of archives.
	Locked, Now string
	// Confirming says that the run was going to install what the lock has, and that the origin did not
	// confirm it. Otherwise the run was selecting anew.
	Confirming bool
}

// Error describes the change in a few words.
func (e *ContentChangedError) Error() string {
	switch {
	case e.Confirming && strings.HasSuffix(e.Name, e.Now): // the name contains its revision
		return fmt.Sprintf("the lock has %s, but the source points to %s: the lock was edited, or the registry gives a different answer now", e.Locked, e.Name)
	case e.Confirming:
		return fmt.Sprintf("%s moved %s -> %s, or the lock was edited", e.Name, e.Locked, e.Now)
	case strings.HasPrefix(e.Name, "tag "):
		return fmt.Sprintf("%s moved %s -> %s", e.Name, shortIdentity(e.Locked), shortIdentity(e.Now))
	}
	return fmt.Sprintf("%s has OTHER CONTENT than the lock (%s -> %s)", e.Name, shortIdentity(e.Locked), shortIdentity(e.Now))
}

// UnreachableError says that the locked commit of a git repository is not what its ref points
// to, and that no branch or tag contains it: its history was rewritten, or the lock was edited.
// Forges serve such commits too, for example those of pull requests.
// InstallOptions.AcceptUnreachable accepts the commit of a call.
type UnreachableError struct {
	// Path is the path of the module call.
	Path addrs.Module
	// Commit is the locked commit. Ref is the ref of the address, and Now the commit that it
	// points to; "" if there is no such ref.
	Commit, Ref, Now string
	// Fixed says that the ref is a version tag, which must not move.
	Fixed bool
	// Unknown says that the history could not be searched, or not to its end. Err is the
	// reason.
	Unknown bool
	Err     error
}

func (e *UnreachableError) Error() string {
	left := fmt.Sprintf("%s points to %s now", e.Ref, e.Now)
	if e.Now == "" {
		left = e.Ref + " is gone"
	} else if e.Now == e.Commit {
		left = "the address abbreviates the commit"
	}
	if e.Unknown {
		reason := "the history could not be read"
		if e.Err != nil {
			reason = e.Err.Error()
		}
		return fmt.Sprintf("whether a branch or tag contains the locked commit %s is not known, and %s: %s", e.Commit, left, reason)
	}
	return fmt.Sprintf("no branch or tag contains the locked commit %s, and %s: the history was rewritten, or the lock was edited", e.Commit, left)
}

// Unwrap returns Err.
func (e *UnreachableError) Unwrap() error { return e.Err }

// HostChangedError says that a call without a registry host would get its module from a
// different registry than the one in the lock. The reason is that the module was locked
// with the conventions of the other stock tool. Project.Dialect says which conventions
// apply.
type HostChangedError struct {
	// Path is the path of the module call.
	Path addrs.Module
	// Locked is the host in the lock, and Now the host that would be used for the call.
	Locked, Now string
	// Dialect is the dialect that gives the host in the lock. The other dialect gives Now.
	Dialect Dialect
}

func (e *HostChangedError) Error() string {
	return fmt.Sprintf("the lock has the module from %s, but the same call now means %s: the lock was made with the conventions of %s",
		e.Locked, e.Now, e.Dialect)
}

// maxListed is the maximum number of changed files in a message.
const maxListed = 20

func writeChanges(b *strings.Builder, changes hashing.Changes) {
	for _, change := range listChanges(changes) {
		b.WriteString("\n  " + change)
	}
}

// listChanges describes the change of each file, up to maxListed files.
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

// shortIdentity shortens a commit, digest or hash for messages.
func shortIdentity(id string) string {
	const digits = 12
	switch scheme, value, found := strings.Cut(id, ":"); {
	case found && hashing.Hash(id).Known(), found && len(value) > digits:
		return scheme + ":" + value[:min(digits, len(value))]
	case len(id) > digits:
		return id[:digits]
	}
	return id
}

// ProviderError is an error about one provider. It wraps an error of package getproviders, such
// as *config.UnknownProviderError or *config.UnusableVersionError,
// *registryclient.RequestError, an error of package versions, such as *versions.DowngradeError,
// *policy.Violation, or a sentinel error of this package.
type ProviderError = config.ProviderError

// fromCopy names the copy of the lock in messages.
const fromCopy = "the copy of the last run"
