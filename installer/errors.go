package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/provider/treeproviders"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/versions"
)

// Kinds of failure, for errors.Is. The errors of this package state facts; what to do next depends on the program.
var (
	ErrCycle          = config.ErrCycle
	ErrEscapesPackage = config.ErrEscapesPackage
	ErrNotInstalled   = config.ErrNotInstalled
	ErrNoSubdir       = config.ErrNoSubdir
	ErrSameKey        = config.ErrSameKey
	ErrTooManyModules = config.ErrTooManyModules

	ErrNoSuchCall = errors.New("the configuration has no such module call, or the module is local")
	ErrMisplaced  = errors.New("modules.json does not match the lock")

	ErrNoSuchProvider   = treeproviders.ErrNotRequired      // no module requires a provider that the options name
	ErrNoComparableHash = treeproviders.ErrNoComparableHash // the lock has only hashes of a provider's archives, whose content is not known
	ErrShortStateKey    = userkey.ErrShortSecret            // [Options.StateKey] has less than 32 characters
	ErrMetadata         = project.ErrMetadata               // a path of the project is in .git or the like, where nothing is written

	ErrOffline           = origins.ErrOffline    // a server would have to be contacted, but [InstallOptions.Offline] is set
	ErrNoVersionsOffline = origins.ErrCannotList // is an ErrOffline: the version is not locked and cannot be listed
	// ErrUnconfirmedOffline is an ErrOffline: no origin has confirmed the entry to this user.
	ErrUnconfirmedOffline = fmt.Errorf("no origin has confirmed the lock's entry for it on this machine, and %w", ErrOffline)
)

// ModuleError is an error about one module call. It wraps, for example, a *getmodules.FetchError, a
// *registryclient.RequestError, a *versions.NoMatchError, a *HashMismatchError or an error of this package.
type ModuleError = config.ModuleError

// ConfigError says that a module's configuration could not be read.
type ConfigError = config.Error

// HashMismatchError says that a package does not have the hashes of the lock.
type HashMismatchError struct {
	Path    addrs.Module
	Package string // the address of the fetched package, redacted
	// Want are the hashes in the lock, and Got those of the package, of the same schemes.
	Want, Got []hashing.Hash
	Changes   hashing.Changes // the files that differ; empty if the sums of the former files are not known
	Gitlinks  []string        // submodules that were left out; a lock made with [Project.Submodules] includes them
	// Hidden are the parts of the source address that the lock does not show, such as "the argument "a"": the lock
	// may be for other values of them. OtherAddress says that they have changed since the last run of this user.
	Hidden       []string
	OtherAddress bool
}

func (e *HashMismatchError) Error() string {
	var b strings.Builder
	b.WriteString("Module checksum verification failed: the package does not have the checksum of the lock file; ")
	switch hidden := strings.Join(e.Hidden, ", "); {
	case e.OtherAddress && hidden == "":
		b.WriteString("its source has changed in a part that the lock does not show")
	case e.OtherAddress:
		fmt.Fprintf(&b, "its source has changed in a part that the lock does not show (%s)", hidden)
	case hidden != "":
		fmt.Fprintf(&b, "the lock was made for other values of what it does not show of the source (%s), or the package was changed at its origin", hidden)
	default:
		b.WriteString("it was changed at its origin or tampered with")
	}
	for i := range min(len(e.Want), len(e.Got)) {
		fmt.Fprintf(&b, "\n  expected: %s\n  got:      %s", e.Want[i], e.Got[i])
	}
	writeChanges(&b, e.Changes)
	if len(e.Gitlinks) > 0 {
		fmt.Fprintf(&b, "\n  its submodules were left out (%q among them)", e.Gitlinks[0])
	}
	return b.String()
}

// ConstraintError says that the constraint of a call excludes the version that an update names.
type ConstraintError struct {
	Constraint string
	Version    versions.Version
	// NotEdited says that the constraint is of a form that [Installer.Pins] does not change.
	NotEdited bool
}

func (e *ConstraintError) Error() string {
	text := fmt.Sprintf("the constraint %q does not allow version %s", e.Constraint, e.Version)
	if e.NotEdited {
		text += ", and only a single condition with ~>, = or >= is edited, and only = for a pre-release"
	}
	return text
}

// LockedError says that the lock would have to change, which the run may not do.
type LockedError struct {
	LockFile string
	Reasons  []LockedReason
	// Earlier names a lock that has what this one has lost, and from which Install takes it: "the copy of the last run",
	// "git show HEAD:FILE", or a commit.
	Earlier string
	// Lost says that the lock has lost all of its module entries, as if rewritten by a stock tool. Reasons is
	// empty then.
	Lost bool
}

// LockedReason says why one entry of the lock cannot be used as it is.
type LockedReason struct {
	// Path is empty for the entry of a provider.
	Path     addrs.Module
	Provider addrs.Provider
	Range    hcl.Range // the source or version of the call, or the requirement; empty for an entry without one
	Reason   string
	Vanished bool // the lock had the entry, and Install puts it back
}

// String returns the reason with its subject and its place, such as "module net (main.tf:3): the lock has no
// entry for it".
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

func (e *LockedError) Error() string {
	text := e.LockFile + " does not match the configuration, and a locked run does not change it"
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

// StaleError says why an entry of the lock does not match the configuration.
type StaleError struct {
	Reason string
}

func (e *StaleError) Error() string { return e.Reason }

// MissingLockError says that a project has no lock file, although its configuration needs entries in one. It
// wraps [fs.ErrNotExist].
type MissingLockError struct {
	File string // relative to the root module's directory, or absolute
}

func (e *MissingLockError) Error() string { return fmt.Sprintf("there is no lock file %s", e.File) }

func (e *MissingLockError) Unwrap() error { return fs.ErrNotExist }

// LinkedLockError says that the lock file is a symbolic link, which stock tools replace by a file when they
// write the lock. Runs that write no lock follow a link that stays in the git repository.
type LinkedLockError struct {
	// File is the lock file, and Target the text of the link. Inside is the target relative to the root module,
	// with slashes, as [Project.LockFile] can name it; "" if it is not below the root module.
	File, Target string
	Inside       string
	Err          error
}

func (e *LinkedLockError) Error() string {
	return fmt.Sprintf("the lock file cannot be used: %s", e.Err)
}
func (e *LinkedLockError) Unwrap() error { return e.Err }

// ContentChangedError says that something that must not change has other content than when it was locked: a
// version was published again, a version tag was moved, an archive was replaced, or the lock was edited.
// [Update.AcceptChanged] accepts the new content.
type ContentChangedError struct {
	Path addrs.Module
	Name string // the version, tag, commit, digest or address: "1.2.0", "tag v1.2.0"
	// Locked and Now are commits or digests, or the h1 hashes of archives.
	Locked, Now string
	// Confirming says that the origin did not confirm what the lock has. Otherwise something was selected anew.
	Confirming bool
	// SourceBlock says that Locked is from a block of the source ([lockfile.File.SourceModules]), which updates ignore.
	SourceBlock bool
}

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

// UnreachableError says that a locked git commit is not what its ref points to, and that no branch or tag
// contains it: its history was rewritten, or the lock was edited. Forges serve such commits too, for example of
// pull requests. [InstallOptions.AcceptUnreachable] accepts them.
type UnreachableError struct {
	Path addrs.Module
	// Commit is the locked commit, and Now the one that Ref points to; "" if there is no such ref.
	Commit, Ref, Now string
	Fixed            bool // Ref must not move: it is a full version tag, for example
	Unknown          bool // the history could not be searched to its end, for the reason Err
	Err              error
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

func (e *UnreachableError) Unwrap() error { return e.Err }

// HostChangedError says that a call without a registry host would get its module from another registry than the
// lock has, because it was locked with the conventions of the other stock tool. [Project.Dialect] decides.
type HostChangedError struct {
	Path addrs.Module
	// Locked is the host in the lock, which Dialect gives the call, and Now is the host of the other dialect.
	Locked, Now string
	Dialect     Dialect
}

func (e *HostChangedError) Error() string {
	return fmt.Sprintf("the lock has the module from %s, but the same call now means %s: the lock was made with the conventions of %s",
		e.Locked, e.Now, e.Dialect)
}

// maxListed is the maximum number of names that a message lists.
const maxListed = 20

func writeChanges(b *strings.Builder, changes hashing.Changes) {
	for _, change := range listChanges(changes) {
		b.WriteString("\n  " + change)
	}
}

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

// ProviderError is an error about one provider. It wraps, for example, a *config.UnknownProviderError, a
// *registryclient.RequestError, a *policy.Violation or an error of packages getproviders, versions and installer.
type ProviderError = config.ProviderError

const fromCopy = "the copy of the last run"
