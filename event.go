package cotter

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/providers"
	"github.com/cotterpin/cotter/internal/stores"
)

// Event is one thing that happened in a run. The events are the structs of
// this file; new ones may be added, so a switch over them needs a default.
//
// [Installer.OnEvent] gets the events of one run one after another, never two
// at once; those of one module come in the order in which things happened.
// They do not influence the run, and the run waits for the callback, which
// must return quickly. No event holds a credential; foreign text in them is
// raw and must be escaped before it is shown on a terminal.
type Event interface{ event() }

// Resolved tells which version or location was selected for a module call.
type Resolved struct {
	Path    addrs.Module
	Source  addrs.ModuleSource
	Version string // "" where the source has none
	Locked  bool   // the lock decided
}

// FetchStarted tells that a package is being fetched, for whichever calls.
type FetchStarted struct {
	Package string // redacted
}

// FetchProgress tells how far a fetch is, in bytes. Total is 0 where it is not
// known.
type FetchProgress struct {
	Package     string
	Done, Total int64
}

// FetchDone tells that a fetch ended well.
type FetchDone struct {
	Package string
	Bytes   int64
	// Store is the name of the [PackageStore] that had the package; "" for its origin.
	Store string
}

// HashVerified tells that a module's package has the hashes of the lock.
type HashVerified struct {
	Path addrs.Module
}

// ModuleInstalled tells that a module is new or changed in its place. It comes
// when the whole run succeeded.
type ModuleInstalled struct {
	Path addrs.Module
	Dir  string
	// Replaced says that something else was in its place.
	Replaced bool
}

// ProviderProgress tells how far the archive of a provider is, in bytes. Total is 0
// where it is not known. It comes at the start of a transfer, during it, and when the
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

// ProviderInstalled tells that a provider is new or changed in its place, and who signed
// it; "" where no signature was checked in this run.
type ProviderInstalled struct {
	Provider   addrs.Provider
	Version    string
	Dir        string
	KeyID, Key string
	// Replaced says that something else was in its place.
	Replaced bool
}

// LockFileWritten tells that the dependency lock was written.
type LockFileWritten struct {
	File    string
	Created bool
}

// Waiting tells that another process works on the same project.
type Waiting struct {
	Dir string
}

// WaitingForFetch tells that another process that shares the cache fetches a
// package, and that it takes long.
type WaitingForFetch struct {
	Package string // redacted
}

// Warning tells the user something that is no error. Path is empty where it
// concerns the run as a whole.
type Warning struct {
	Path    addrs.Module
	Message string
	// Kind tells warnings apart about which the user can do something.
	Kind WarningKind
}

// WarningKind is what a warning is about; "" for one that needs no action, or whose
// message is all that there is to say.
type WarningKind string

// The kinds of warnings.
const (
	// WarningNoCache says that the cache cannot be used, so that fetched packages
	// are not kept for later runs. Installer.CacheDir can name another directory.
	WarningNoCache WarningKind = "no cache"
	// WarningDialectAssumed says that a registry depends on the stock tool that the
	// project was assumed to be for. Request.Dialect decides.
	WarningDialectAssumed WarningKind = "dialect assumed"
	// WarningRestored says that files of an installed module were changed, and are
	// replaced by what the lock says.
	WarningRestored WarningKind = "restored"
)

func (Resolved) event()          {}
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
func (Warning) event()           {}

// events makes the calls of one run's callback serial, and tells each warning
// once.
type events struct {
	fn func(Event)

	mu   sync.Mutex
	told map[string]bool
}

func (e *events) emit(event Event) {
	if e.fn == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, ok := event.(Warning); ok {
		text := w.Path.String() + " " + w.Message
		if e.told[text] {
			return
		}
		if e.told == nil {
			e.told = make(map[string]bool)
		}
		e.told[text] = true
	}
	e.fn(event)
}

// ofFetches passes on what is told of fetches, and warnings: the events of a walk
// that is done again later.
func (e *events) ofFetches() *events {
	return &events{fn: func(event Event) {
		switch event.(type) {
		case FetchStarted, FetchProgress, FetchDone, WaitingForFetch, Warning:
			e.emit(event)
		}
	}}
}

// warn tells the user something about a module; path is empty for the run as a
// whole.
func (e *events) warn(path addrs.Module, message string) {
	e.emit(Warning{Path: path, Message: message})
}

// ofOrigins passes on what is told of origins and stores.
func (e *events) ofOrigins(o origins.Event) {
	switch o.Kind {
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

// ofProviders passes on what happens to packages of providers.
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
		if !errors.Is(p.Err, ErrDeliversOnly) {
			e.warn(nil, stores.DistrustText(p.Location, p.Err))
		}
	case providers.Damaged:
		e.warn(nil, fmt.Sprintf("the package of provider %s %s in the cache was damaged, and is fetched again", about.Provider.ForDisplay(), about.Version))
	}
}

// warnOf tells the user what a diagnostic says of a module.
func (e *events) warnOf(path addrs.Module, diag *hcl.Diagnostic) {
	message := diag.Summary
	if diag.Detail != "" {
		message += ": " + diag.Detail
	}
	if diag.Subject != nil {
		message = diag.Subject.String() + ": " + message
	}
	e.warn(path, message)
}
