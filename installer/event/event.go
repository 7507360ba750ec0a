package event

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/versions"
)

// Event is one of the structs of this package. New ones may be added, so a switch over them needs a
// default case. docs/json.schema.json shows the comments of those that the command prints as JSON.
type Event interface{ event() }

// Resolved reports which version or location was selected for a module call. Each call gets one,
// also of a local module.
type Resolved struct {
	// Path is the path of the module: app.network.
	Path    addrs.Module       `json:"key"`
	Source  addrs.ModuleSource `json:"source"`
	Version versions.Version   `json:"version,omitzero"` // Zero if the source has no versions.
	// Package is the address of the package, without credentials: as in the lock if Locked is set,
	// and otherwise where it is fetched from. It is absent for a module in its caller's package.
	Package string `json:"package,omitempty"`
	// Locked says that the lock determined the version, by the call's entry or another one.
	Locked bool `json:"locked"`
	// Selection says why the version or location was selected.
	Selection Selection `json:"selection"`
}

// UnmarshalJSON reads what package encoding/json writes.
func (r *Resolved) UnmarshalJSON(text []byte) error {
	type fields Resolved // without this method
	read := struct {
		*fields
		Source addrs.ModuleSourceText `json:"source"`
	}{fields: (*fields)(r)}
	err := json.Unmarshal(text, &read)
	r.Source = read.Source.ModuleSource
	return err
}

// PackageNeeded reports that a module needs a package that is neither installed nor in the cache.
// The events of its fetch have the same Package. They come later, or were sent before if several
// calls need the package.
type PackageNeeded struct {
	Path    addrs.Module `json:"key"`
	Package string       `json:"package"` // Redacted.
}

// ModuleReady reports that the content of a module is complete, was compared with the lock if that
// has an entry, and can be read by the rest of the run. Each call gets one, also of a local module.
// Nothing in the project has changed yet: [ModuleInstalled] follows when all modules are in place.
type ModuleReady struct {
	Path addrs.Module `json:"key"`
	// Dir is the directory that the module has, or will have after the run, relative to the root
	// module's, with forward slashes.
	Dir string `json:"dir"`
}

// FetchStarted reports that a package is being fetched. Several calls may need it.
type FetchStarted struct {
	Package string `json:"package"` // Redacted.
}

// FetchProgress reports the progress of a fetch, in bytes.
type FetchProgress struct {
	Package string `json:"package"`
	// Done is the number of bytes received.
	Done int64 `json:"done"`
	// Total is the number of bytes of the package; 0 if it is not known.
	Total int64 `json:"total,omitempty"`
}

// FetchDone reports that a fetch succeeded.
type FetchDone struct {
	Package string `json:"package"`
	Bytes   int64  `json:"bytes"`
	// Store is the name of the bundle or mirror that the package came from (installer.PackageStore);
	// "" for the origin.
	Store string `json:"store,omitempty"`
}

// HashVerified reports that a module's package has the hashes of the lock.
type HashVerified struct {
	Path addrs.Module `json:"key"`
}

// ModuleInstalled reports that a module was added or changed in its directory. It is sent
// after the whole run has succeeded.
type ModuleInstalled struct {
	Path addrs.Module `json:"key"`
	Dir  string       `json:"dir"`
	// Replaced says that the directory had other content before.
	Replaced bool `json:"replaced,omitempty"`
}

// ProviderResolved reports which version of a provider was selected.
type ProviderResolved struct {
	Provider addrs.Provider   `json:"provider"`
	Version  versions.Version `json:"version"`
	Locked   bool             `json:"locked"` // The lock's entry determined the version.
}

// ProviderReady reports that the package of a provider is complete and was authenticated and
// compared with the lock. [ProviderInstalled] follows when it was added to the project.
type ProviderReady struct {
	Provider addrs.Provider   `json:"provider"`
	Version  versions.Version `json:"version"`
}

// ProviderProgress reports the progress of a provider's archive, in bytes. It is sent at the start of
// a transfer, during it, and when the archive is unpacked.
type ProviderProgress struct {
	Provider addrs.Provider   `json:"provider"`
	Version  versions.Version `json:"version"`
	Platform addrs.Platform   `json:"platform"`
	// Done is the number of bytes fetched or unpacked.
	Done int64 `json:"done"`
	// Total is the number of bytes to fetch or unpack; 0 if it is not known.
	Total     int64 `json:"total,omitempty"`
	Unpacking bool  `json:"unpacking,omitempty"`
	// Stored says that the archive comes from a bundle or a mirror.
	Stored bool `json:"stored,omitempty"`
}

// ProviderInstalled reports that a provider was added or changed in its directory.
type ProviderInstalled struct {
	Provider addrs.Provider   `json:"provider"`
	Version  versions.Version `json:"version"`
	Dir      string           `json:"dir"`
	// KeyID is the ID of the key that signed the provider's checksums; "" if no signature was checked
	// in this run.
	KeyID string `json:"key_id,omitempty"`
	// Key is the name of that key.
	Key string `json:"key_name,omitempty"`
	// Evidence is who confirms the package.
	Evidence evidence.Evidence `json:"evidence,omitzero"`
	// Replaced says that the directory had other content before.
	Replaced bool `json:"replaced,omitempty"`
}

// LockFileWritten reports that the dependency lock was written.
type LockFileWritten struct {
	File string `json:"file"`
	// Created says that there was no such file before.
	Created bool `json:"created"`
	// IgnoredBy is the file whose pattern makes git ignore the lock. It is relative to the project, or absolute if it is
	// not in the checkout, and empty if git does not ignore the lock, or tracks it, or if that is not known.
	IgnoredBy string `json:"ignored_by,omitempty"`
	// IgnoredLine is the line of the pattern in that file.
	IgnoredLine int `json:"ignored_line,omitempty"`
}

// Waiting reports that another process is working on the same project.
type Waiting struct {
	Dir string `json:"dir"`
}

// WaitingForFetch reports that another process with the same cache is fetching a package,
// and that this takes long.
type WaitingForFetch struct {
	Package string `json:"package"` // Redacted.
}

// Warning is a message to the user about something that is not an error. Path is empty if
// the warning is about the whole run.
type Warning struct {
	Path addrs.Module
	// Range is the text in the configuration that the warning is about: a call, an argument or
	// a block. It is zero if the warning is about something else, such as a package or the lock.
	// Message does not repeat it.
	Range   hcl.Range
	Message string
	// Kind is set for warnings that the user can act on.
	Kind WarningKind
	// Err is the error that Message describes. It is nil for most kinds.
	Err error
}

// UnexpectedFiles reports that the installed files of a module or a provider are neither those
// of the lock nor those that this user's last run installed. A [WarningRestored] with the same
// facts follows.
type UnexpectedFiles struct {
	// Path is empty for a provider, and Provider is zero for a module.
	Path     addrs.Module
	Provider addrs.Provider
	// Files is how the files differ from those that belong there, as far as that is known.
	Files hashing.Changes
	// Replaced says that the files of the locked package have replaced them. It is false for a
	// run that failed, or that installs nothing.
	Replaced bool
}

// WarningKind says what a warning is about. It is "" for a warning that needs no action, or
// that its message describes completely.
type WarningKind string

// The kinds of warnings.
const (
	// WarningNoCache says that the cache cannot be used, so fetched packages are not kept
	// for later runs. The field CacheDir of installer.Installer can name another directory.
	WarningNoCache WarningKind = "no cache"
	// WarningExposed says that other users can exchange what is in CacheDir or StateDir of
	// installer.Installer, so these are not used. Err names the directories.
	WarningExposed WarningKind = "exposed"
	// WarningDialectAssumed says that the registry of a module or a provider depends on the
	// stock tool that the project is for, and that the tool was assumed. The field Dialect of
	// installer.Project sets it.
	WarningDialectAssumed WarningKind = "dialect assumed"
	// WarningDialectFiles says that tofu and terraform read different module calls or provider
	// requirements in the project's own files, such as main.tofu beside main.tf, and that nothing
	// says which tool the project is for. The field Dialect of installer.Project does.
	WarningDialectFiles WarningKind = "dialect files"
	// WarningRestored says that the files of an installed module or provider are neither those
	// of the lock nor those that this user's last run installed. The message says whether
	// they were replaced by the files of the locked package.
	WarningRestored WarningKind = "restored"
	// WarningMoved says that a version, a version tag or an address now has other content than
	// the lock, and that what is locked is used. In an update of everything, Err is an
	// installer.ContentChangedError.
	WarningMoved WarningKind = "moved"
	// WarningUnknownHistory says that it is not known whether a locked commit is in the history
	// of its repository.
	WarningUnknownHistory WarningKind = "unknown history"
	// WarningKeptProviders says that the lock has providers that no module requires, and that they stay
	// because the state may need them. The field Prune of installer.Providers drops them.
	WarningKeptProviders WarningKind = "kept providers"
	// WarningOnePlatform says that new entries of providers have only the hashes for this machine's platform, so
	// that locked runs on others fail. The field Platforms of installer.Project adds those of others.
	WarningOnePlatform WarningKind = "one platform"
	// WarningReplaced says which sources the project's cotter.hcl replaces.
	WarningReplaced WarningKind = "replaced"
	// WarningRepositoryOwner says that the project's git repository belongs to another user,
	// so it was not used. The setting safe.directory of git allows it.
	WarningRepositoryOwner WarningKind = "repository owner"
	// WarningShallowHistory says that the lock may have lost its module entries, and that the
	// clone is shallow, so that they were not found in git's history.
	WarningShallowHistory WarningKind = "shallow history"
	// WarningPartialHistory says the same of a clone without earlier versions of the lock.
	WarningPartialHistory WarningKind = "partial history"
	// WarningLongHistory says that the search for earlier module entries has stopped before the end of git's
	// history, because that is long. It needs no attention unless the lock has lost entries.
	WarningLongHistory WarningKind = "long history"
	// WarningVersionArgument says that a call has a version argument next to a source of git or OCI, which tofu
	// and terraform refuse. A program whose own parser accepts it need not show the warning.
	WarningVersionArgument WarningKind = "version argument"
	// WarningMerged says that the lock had conflict markers, and that its sides were merged.
	WarningMerged WarningKind = "merged"
)

func (Resolved) event()          {}
func (PackageNeeded) event()     {}
func (ModuleReady) event()       {}
func (ProviderResolved) event()  {}
func (ProviderReady) event()     {}
func (FetchStarted) event()      {}
func (FetchProgress) event()     {}
func (FetchDone) event()         {}
func (HashVerified) event()      {}
func (ModuleInstalled) event()   {}
func (ProviderProgress) event()  {}
func (ProviderInstalled) event() {}
func (LockFileWritten) event()   {}
func (Waiting) event()           {}
func (WaitingForFetch) event()   {}
func (UnexpectedFiles) event()   {}
func (Warning) event()           {}
