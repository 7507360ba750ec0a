package cotter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
)

// The kinds of failure that callers tell apart with errors.Is.
var (
	// ErrCycle says that a module calls itself, directly or not.
	ErrCycle = errors.New("the module calls itself")
	// ErrEscapesPackage says that a local source address leads out of the
	// package that its module is part of.
	ErrEscapesPackage = errors.New("local module path escapes module package")
	// ErrNoSubdir says that a package lacks the directory that its module was
	// said to be in.
	ErrNoSubdir = errors.New("module subdirectory not found")
	// ErrSameKey says that two module calls would be installed in one place.
	ErrSameKey = errors.New("two module calls have the same key")
	// ErrTooManyModules says that the module tree is larger than the limits.
	ErrTooManyModules = errors.New("the module tree is too large")
	// ErrOffline says that a server would have to be asked, which the request
	// forbids.
	ErrOffline = errors.New("no server may be asked")
	// ErrNoSuchCall says that a request names a module call that the
	// configuration does not have.
	ErrNoSuchCall = errors.New("the configuration has no such module call outside the project")
	// ErrMisplaced says that modules.json, by which stock tools find modules, is
	// not what an installation by the lock writes.
	ErrMisplaced = errors.New("modules.json does not match the lock")
	// ErrDowngrade says that an update would select a lower version than the locked
	// one, which the request does not allow.
	ErrDowngrade = errors.New("the update leads to a lower version than the locked one")
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
	// Gitlinks are submodules that were left out of the package.
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
		fmt.Fprintf(&b, "\n  its submodules were left out (%q among them): was the lock made with --submodules?", e.Gitlinks[0])
	}
	if e.Key != "" {
		fmt.Fprintf(&b, "\n  if you know why it differs, cotter update %s --accept-changed %s locks what is there now", e.Key, e.Key)
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
	Key    string
	Range  hcl.Range // the call; empty for an entry without a call
	Reason string
}

func (e *LockedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s does not match the configuration and must not change in this mode", e.LockFile)
	for _, r := range e.Reasons {
		fmt.Fprintf(&b, "\n  module %s", r.Key)
		if r.Range.Filename != "" {
			fmt.Fprintf(&b, " (%s:%d)", r.Range.Filename, r.Range.Start.Line)
		}
		fmt.Fprintf(&b, ": %s", r.Reason)
	}
	b.WriteString("\n  cotter install --locked=false brings the lock up to date; cotter restore puts back entries that have vanished from it")
	return b.String()
}

// ContentChangedError says that what is never to change has other content than the
// lock: a version was published again, a version tag was moved, or an archive was
// replaced. An update that takes it needs Request.AcceptChanged.
type ContentChangedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Name is the version, the tag or the address.
	Name string
	// Locked and Now are the commits or digests, or for archives the h1 hashes,
	// of the lock and of the origin.
	Locked, Now string
}

func (e *ContentChangedError) Error() string {
	return fmt.Sprintf("%s; if you know why, cotter update %s --accept-changed %s takes it", e.Change(), e.Key, e.Key)
}

// Change is the change in a few words.
func (e *ContentChangedError) Change() string {
	return fmt.Sprintf("%s has OTHER CONTENT than the lock (%s -> %s)", e.Name, shortIdentity(e.Locked), strings.TrimPrefix(shortIdentity(e.Now), "commit "))
}

// MovedError says that the name by which a package was locked leads elsewhere
// than the lock: somebody has moved a tag, a registry has another answer, or the
// lock was edited.
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
	what := fmt.Sprintf("%s moved %s -> %s, or the lock was edited", e.Name, e.Locked, e.Now)
	if strings.HasSuffix(e.Name, e.Now) { // it names what it leads to
		what = fmt.Sprintf("the lock has %s, and the source means %s: the lock was edited, or the registry has another answer now", e.Locked, e.Name)
	}
	return fmt.Sprintf("%s; cotter update %s --accept-changed %s takes what is there now", what, e.Key, e.Key)
}

// HostChangedError says that a call without a registry host would get its module
// from another registry than the lock has, because another stock tool's
// conventions apply than did when it was locked. Request.Dialect decides.
type HostChangedError struct {
	// Key is the path of the module call, with dots.
	Key string
	// Locked is the host in the lock, and Now the one that the call would mean.
	Locked, Now string
	// Dialect is the one by which the lock's host is meant.
	Dialect Dialect
}

func (e *HostChangedError) Error() string {
	return fmt.Sprintf("the lock has it from %s, and it would now come from %s, though the call is the same; --for %s keeps the registry, --for %s changes it",
		e.Locked, e.Now, e.Dialect, e.Dialect.other())
}

// SubmoduleError says that a module is in a git submodule that was not fetched.
type SubmoduleError struct {
	// Path is the submodule's path in its repository.
	Path string
}

func (e *SubmoduleError) Error() string {
	return fmt.Sprintf("%q in the repository is a git submodule, which is fetched with --submodules only; or call its repository as a module of its own", e.Path)
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
