package cotter

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/stores"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/ocistore"
)

// Resolved reports which version or location was selected for a module call. Each call gets one,
// also of a local module.
type Resolved struct {
	Path    addrs.Module
	Source  addrs.ModuleSource
	Version string // "" if the source has no versions
	// Package is the address of the package, without credentials: as in the lock if Locked is set,
	// and otherwise where it is fetched from. It is "" for a module in its caller's package.
	Package string
	Locked  bool // the lock determined the version, by the call's entry or another one
	// Selection says why the version or location was selected.
	Selection Selection
}

// PackageNeeded reports that a module needs a package that is neither installed nor in the cache.
// The events of its fetch have the same Package. They come later, or were sent before if several
// calls need the package.
type PackageNeeded struct {
	Path    addrs.Module
	Package string // redacted
}

// ModuleReady reports that the content of a module is complete, was compared with the lock if that
// has an entry, and can be read by the rest of the run. Each call gets one, also of a local module.
// Nothing in the project has changed yet: [ModuleInstalled] follows when all modules are in place.
type ModuleReady struct {
	Path addrs.Module
	// Dir is the directory that the module has, or will have after the run, relative to the root
	// module's, with forward slashes.
	Dir string
}

// FetchStarted reports that a package is being fetched. Several calls may need it.
type FetchStarted struct {
	Package string // redacted
}

// FetchProgress reports the progress of a fetch, in bytes. Total is 0 if it is not known.
type FetchProgress struct {
	Package     string
	Done, Total int64
}

// FetchDone reports that a fetch succeeded.
type FetchDone struct {
	Package string
	Bytes   int64
	// Store is the name of the [PackageStore] that the package came from; "" for the
	// origin.
	Store string
}

// HashVerified reports that a module's package has the hashes of the lock.
type HashVerified struct {
	Path addrs.Module
}

// ModuleInstalled reports that a module was added or changed in its directory. It is sent
// after the whole run has succeeded.
type ModuleInstalled struct {
	Path addrs.Module
	Dir  string
	// Replaced says that the directory had other content before.
	Replaced bool
}

// ProviderResolved reports which version of a provider was selected. Its other events have the same
// Provider and Version.
type ProviderResolved struct {
	Provider addrs.Provider
	Version  string
	Locked   bool // the lock's entry determined the version
}

// ProviderReady reports that the package of a provider is complete and was authenticated and
// compared with the lock. [ProviderInstalled] follows when it was added to the project.
type ProviderReady struct {
	Provider addrs.Provider
	Version  string
}

// ProviderProgress reports the progress of a provider's archive, in bytes. Total is 0 if it
// is not known. The event is sent at the start of a transfer, during it, and when the
// archive is unpacked.
type ProviderProgress struct {
	Provider    addrs.Provider
	Version     string
	Platform    addrs.Platform
	Done, Total int64
	Unpacking   bool
	// Stored says that the archive comes from a bundle or a mirror.
	Stored bool
}

// ProviderInstalled reports that a provider was added or changed in its directory. KeyID
// and Key say who signed it; they are "" if no signature was checked in this run.
type ProviderInstalled struct {
	Provider   addrs.Provider
	Version    string
	Dir        string
	KeyID, Key string
	// Evidence is who confirms the package.
	Evidence evidence.Evidence
	// Replaced says that the directory had other content before.
	Replaced bool
}

// LockFileWritten reports that the dependency lock was written.
type LockFileWritten struct {
	File    string
	Created bool
}

// Waiting reports that another process is working on the same project.
type Waiting struct {
	Dir string
}

// WaitingForFetch reports that another process with the same cache is fetching a package,
// and that this takes long.
type WaitingForFetch struct {
	Package string // redacted
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
}

// UnexpectedFiles reports that the installed files of a module or a provider are neither those
// of the lock nor those that this user's last run installed. A WarningRestored with the same
// facts follows.
type UnexpectedFiles struct {
	// Path is the path of the module; empty for a provider.
	Path addrs.Module
	// Provider is the provider; zero for a module.
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
	// for later runs. Installer.CacheDir can name another directory.
	WarningNoCache WarningKind = "no cache"
	// WarningDialectAssumed says that the registry of a module or a provider depends on the
	// stock tool that the project is for, and that the tool was assumed. Request.Dialect sets
	// it.
	WarningDialectAssumed WarningKind = "dialect assumed"
	// WarningRestored says that the files of an installed module or provider are neither those
	// of the lock nor those that this user's last run installed. The message says whether
	// they were replaced by the files of the locked package.
	WarningRestored WarningKind = "restored"
	// WarningMoved says that a version tag points to something other than what the lock has,
	// which is used.
	WarningMoved WarningKind = "moved"
	// WarningUnknownHistory says that it is not known whether a locked commit is in the history
	// of its repository.
	WarningUnknownHistory WarningKind = "unknown history"
	// WarningRepositoryOwner says that the project's git repository belongs to another user,
	// so it was not used. The setting safe.directory of git allows it.
	WarningRepositoryOwner WarningKind = "repository owner"
	// WarningShallowHistory says that the lock may have lost its module entries, and that the
	// clone is shallow, so that they were not found in git's history.
	WarningShallowHistory WarningKind = "shallow history"
	// WarningPartialHistory says the same of a clone without earlier versions of the lock.
	WarningPartialHistory WarningKind = "partial history"
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

// events serializes the calls of a run's callback, and passes on each warning once.
type events struct {
	fn func(Event)

	mu     sync.Mutex
	warned map[string]bool
}

func (e *events) emit(event Event) {
	if e.fn == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, ok := event.(Warning); ok {
		text := w.Path.String() + " " + w.Range.String() + " " + w.Message
		if e.warned[text] {
			return
		}
		if e.warned == nil {
			e.warned = make(map[string]bool)
		}
		e.warned[text] = true
	}
	e.fn(event)
}

// ofFetches returns events that pass on only warnings and the events of fetches. It is for
// a walk that is repeated later.
func (e *events) ofFetches() *events {
	return &events{fn: func(event Event) {
		switch event.(type) {
		case FetchStarted, FetchProgress, FetchDone, WaitingForFetch, Warning:
			e.emit(event)
		}
	}}
}

// warn tells the user something about a module; path is empty if it concerns the whole run.
func (e *events) warn(path addrs.Module, message string) {
	e.emit(Warning{Path: path, Message: message})
}

// ofOrigins passes on an event of an origin or a store.
func (e *events) ofOrigins(o origins.Event) {
	switch o.Kind {
	case origins.Needed:
		e.emit(PackageNeeded{Path: o.Path, Package: o.Package})
	case origins.FetchStarted:
		e.emit(FetchStarted{Package: o.Package})
	case origins.FetchProgress:
		e.emit(FetchProgress{Package: o.Package, Done: o.Done, Total: o.Total})
	case origins.FetchDone:
		e.emit(FetchDone{Package: o.Package, Bytes: o.Done, Store: o.Store})
	case origins.WaitingForFetch:
		e.emit(WaitingForFetch{Package: o.Package})
	case origins.Warning:
		e.warn(o.Path, o.Text)
	}
}

// ofProviders passes on an event of a provider's package.
func (e *events) ofProviders(p providers.Event) {
	about := ProviderProgress{Provider: p.Want.Provider, Version: p.Want.Version.String(), Platform: p.Want.Platform, Done: p.Done, Total: max(p.Total, 0), Stored: p.Stored}
	switch p.Kind {
	case providers.Downloading, providers.Unpacking:
		about.Unpacking = p.Kind == providers.Unpacking
		e.emit(about)
	case providers.Waiting:
		e.emit(WaitingForFetch{Package: p.Location})
	case providers.Refused:
		e.warn(nil, fmt.Sprintf("provider %s %s: %s", about.Provider.ForDisplay(), about.Version, p.Err))
	case providers.Distrusted:
		if !errors.Is(p.Err, ocistore.ErrDeliversOnly) {
			e.warn(nil, stores.DistrustText(p.Location, p.Err))
		}
	case providers.Damaged:
		e.warn(nil, fmt.Sprintf("the package of provider %s %s in the cache was damaged, and is fetched again", about.Provider.ForDisplay(), about.Version))
	}
}

// ofSelected reports that a version of a provider was selected.
func (e *events) ofSelected(p treeproviders.Selected) {
	e.emit(ProviderResolved{Provider: p.Address, Version: p.Version.String(), Locked: p.Entry.Version != ""})
}

// ofReady reports that the package of a provider is ready.
func (e *events) ofReady(p treeproviders.Selected) {
	e.emit(ProviderReady{Provider: p.Address, Version: p.Version.String()})
}

// warnOf passes on a diagnostic about a module as a warning.
func (e *events) warnOf(path addrs.Module, diag *hcl.Diagnostic) {
	w := Warning{Path: path, Message: diag.Summary}
	if diag.Detail != "" {
		w.Message += ": " + diag.Detail
	}
	if diag.Subject != nil {
		w.Range = *diag.Subject
	}
	e.emit(w)
}
