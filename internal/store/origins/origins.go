package origins

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

var ErrOffline = errors.New("offline mode is set")

// ErrCannotList says that the lock has no version that fits, and offline mode is set.
var ErrCannotList = fmt.Errorf("the lock has no version that fits, and versions cannot be listed: %w", ErrOffline)

// NotOfferedError says that a repository no longer has the tag of a locked version.
type NotOfferedError struct{ Version string }

func (e *NotOfferedError) Error() string { return "the version " + e.Version + " is no longer offered" }

var errNotAtHand = fmt.Errorf("it is neither installed nor in the cache, and %w", ErrOffline)

// Origins is one run's access to a client, limited by its request and policies.
type Origins struct {
	*Client
	Offline bool
	Rules   rules.Rules
	// Submodules says that those of git repositories are fetched as well.
	Submodules bool
	// OnEvent may be called by several goroutines at once.
	OnEvent func(event.Event)
}

func (o *Origins) warn(path addrs.Module, text string) {
	o.OnEvent(event.Warning{Path: path, Message: text})
}

func (o *Origins) querySlot(ctx context.Context, pkg addrs.ModulePackage, offline error) (release func(), err error) {
	if o.Offline {
		return nil, offline
	}
	return o.queryFor(ctx, pkg)
}

// Locate returns the location of a version; zero if the source has none. Policies apply to the registry's
// answer.
func (o *Origins) Locate(ctx context.Context, from callsource.Source, version versions.Version) (Location, error) {
	if err := o.check(ctx, from); err != nil {
		return Location{}, err
	}
	source, isRegistry := from.Address.(addrs.ModuleSourceRegistry)
	if !isRegistry {
		return Location{Package: from.Repository}, nil
	}
	answer, err := o.locations.do(ctx, o, release{source.Package, version, callerOf(from)}, func(ctx context.Context) (registryclient.Location, error) {
		done, err := o.querySlot(ctx, addrs.ModulePackage{}, errNotAtHand)
		if err != nil {
			return registryclient.Location{}, err
		}
		defer done()
		return o.Registry.PackageLocation(limited(ctx, from), source.Package, version)
	})
	if err != nil {
		return Location{}, err
	}
	at := Location{Package: answer.Source.Package, Subdir: answer.Source.Subdir, answer: &answer, asked: source.Package}
	return at, o.checkLocation(ctx, from, at)
}

// LocateLocked returns the current location of a lock entry's version.
func (o *Origins) LocateLocked(ctx context.Context, from callsource.Source, entry lockfile.Module) (Location, error) {
	if !from.IsTagged() {
		return o.Locate(ctx, from, entry.Version)
	}
	offered, err := o.TagVersions(ctx, from)
	if err != nil {
		return Location{}, err
	}
	var found versions.Candidate
	for _, candidate := range offered {
		if candidate.Version == entry.Version && (found.Ref == "" || candidate.Revision == entry.Revision()) {
			found = candidate
		}
	}
	if found.Ref == "" {
		return Location{}, fmt.Errorf("%s: %w", from.Repository.Redacted(), &NotOfferedError{entry.Version.String()})
	}
	return TagLocation(from, found), nil
}

// Reference asks what a location means now; zero for an archive that a registry hosts. locked is the lock's
// revision, or "".
func (o *Origins) Reference(ctx context.Context, from callsource.Source, at Location, locked string) (getmodules.Reference, error) {
	switch {
	case at.isHosted():
		return getmodules.Reference{}, nil
	case at.tag != "": // it has just been listed
		return getmodules.Reference{Kind: getmodules.ReferenceTag, Name: at.tag, Revision: at.Revision}, nil
	}
	if err := o.check(ctx, from); err != nil {
		return getmodules.Reference{}, err
	}
	key := reference{named: at.namedBy(from)}
	if name, exact := at.Package.Ref(); !exact && name != "" && strings.HasPrefix(locked, strings.ToLower(name)) {
		key.locked = locked
	}
	return o.references.do(ctx, o, key, func(ctx context.Context) (getmodules.Reference, error) {
		done, err := o.querySlot(ctx, key.pkg, errNotAtHand)
		if err != nil {
			return getmodules.Reference{}, err
		}
		defer done()
		req := o.withRun(at.request(from))
		req.Revision = key.locked
		return o.Fetcher.Reference(ctx, req)
	})
}

func (o *Origins) checkLocation(ctx context.Context, from callsource.Source, at Location) error {
	err := o.Rules.Each(func(p *policy.Policy) error {
		return errors.Join(p.CheckPackage(at.Package), p.CheckRef(at.Package))
	})
	if err == nil {
		err = o.CheckRef(ctx, from, at)
	}
	if err != nil {
		return fmt.Errorf("the registry points to %s: %w", at.Package.Redacted(), err)
	}
	return nil
}

// CheckRef asks whether an address means a branch, if the policies depend on it and the address does not
// show it. The lock has the commit but not the kind of the ref, so a locked package needs the request too.
func (o *Origins) CheckRef(ctx context.Context, from callsource.Source, at Location) error {
	if !o.Rules.DenyBranches() || at.Package.Getter() != "git" {
		return nil
	}
	if o.Offline {
		o.warn(from.Path, "the policy denies branches, and whether its ref is one cannot be checked in offline mode")
		return nil
	}
	now, err := o.Reference(ctx, from, at, "")
	if err != nil {
		return err
	}
	return o.Rules.Each(func(p *policy.Policy) error { return p.CheckReference(now.String()) })
}
