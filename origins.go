package cotter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/rules"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
	"github.com/cotterpin/cotter/versions/gittags"
	"github.com/cotterpin/cotter/versions/ocitags"
)

// origins asks registries and repositories what they have, as far as a request
// and its policies allow. Each question is asked once in a session.
type origins struct {
	*session
	offline bool
	rules   rules.Rules
	events  *events
}

// location is where a package is to be fetched from, and which of its
// directories the origin means.
type location struct {
	pkg    addrs.ModulePackage
	subdir string
	// revision is what must come from there; "" if that is not known.
	revision string
	// unconfirmed says that a lock names the revision, and that no origin has
	// confirmed it: that a git store in the cache has it proves nothing.
	unconfirmed bool
	// answer is the registry's answer that named the location, and asked the package
	// for which it was asked; answer is nil if the configuration named it.
	answer *registryclient.Location
	asked  addrs.ModuleRegistryPackage
}

// fromServer reports whether a server named the location.
func (at location) fromServer() bool { return at.answer != nil }

// isHosted reports whether the registry has the package itself.
func (at location) isHosted() bool { return at.answer != nil && at.answer.Direct }

// origin is the server that named the location; "" if the configuration did.
func (at location) origin() string {
	if at.answer == nil {
		return ""
	}
	return at.answer.Origin
}

// release is one version of a registry's package.
type release struct {
	pkg     addrs.ModuleRegistryPackage
	version versions.Version
}

// repositoryKey is what makes two listings of tags the same.
type repositoryKey struct {
	repository  addrs.ModulePackage
	fromPackage bool
}

func repositoryOf(c *call) repositoryKey { return repositoryKey{c.repository, c.fromPackage()} }

func (k repositoryKey) request() getmodules.Request {
	return getmodules.Request{Package: k.repository, FromPackage: k.fromPackage}
}

// referenceKey is what makes two questions about a reference the same.
type referenceKey struct {
	pkg                     addrs.ModulePackage
	fromServer, fromPackage bool
	// locked is the commit of the lock if the address may abbreviate it.
	locked string
}

// onlineSlot waits for a slot in which a server is asked. The error wraps
// ErrOffline if that is not allowed.
func (o *origins) onlineSlot(ctx context.Context) (release func(), err error) {
	if o.offline {
		return nil, errNotAtHand
	}
	return o.slot(ctx)
}

// errNotAtHand says that a package would have to be fetched.
var errNotAtHand = fmt.Errorf("it is neither installed nor in the cache, and %w", ErrOffline)

// listingSlot is onlineSlot for listing the versions that a server has.
func (o *origins) listingSlot(ctx context.Context) (release func(), err error) {
	if o.offline {
		return nil, fmt.Errorf("the lock has no version that fits, and versions cannot be listed: %w", ErrOffline)
	}
	return o.slot(ctx)
}

// locate returns the location of a version of a call's package. The lock is not
// asked: it pins what must come from there.
func (o *origins) locate(ctx context.Context, c *call, version string) (location, error) {
	source, isRegistry := c.source.(addrs.ModuleSourceRegistry)
	if !isRegistry {
		return location{pkg: c.repository}, nil
	}
	v, err := versions.Parse(version)
	if err != nil {
		return location{}, c.fail(err)
	}
	answer, err := o.locations.Do(ctx, release{source.Package, v}, func(ctx context.Context) (registryclient.Location, error) {
		done, err := o.onlineSlot(ctx)
		if err != nil {
			return registryclient.Location{}, err
		}
		defer done()
		return o.registry.PackageLocation(ctx, source.Package, v)
	})
	if err != nil {
		return location{}, c.fail(err)
	}
	at := location{pkg: answer.Source.Package, subdir: answer.Source.Subdir, answer: &answer, asked: source.Package}
	return at, c.failIf(o.checkLocation(ctx, c, at))
}

// locateLocked returns where the locked version of a call is now.
func (o *origins) locateLocked(ctx context.Context, c *call, entry lockfile.Module) (location, error) {
	if !c.isRemote() || !c.hasConstraint {
		return o.locate(ctx, c, entry.Version)
	}
	offered, err := o.tagVersions(ctx, c)
	if err != nil {
		return location{}, err
	}
	locked, err := versions.Parse(entry.Version)
	if err != nil {
		return location{}, c.fail(err)
	}
	var found versions.Candidate
	for _, candidate := range offered {
		if candidate.Version == locked && (found.Ref == "" || candidate.Revision == lockedRevision(entry)) {
			found = candidate
		}
	}
	if found.Ref == "" {
		return location{}, c.fail(fmt.Errorf("%s: the version %s is no longer offered", c.repository.Redacted(), locked))
	}
	return location{pkg: tagged(c.repository, found.Ref), revision: found.Revision}, nil
}

// reference asks which revision an address means now. It is the zero Reference for
// an archive that a registry has itself. locked is the revision that the lock has,
// "" if it has none.
func (o *origins) reference(ctx context.Context, c *call, at location, locked string) (getmodules.Reference, error) {
	if at.isHosted() {
		return getmodules.Reference{}, nil
	}
	key := referenceKey{pkg: at.pkg, fromServer: at.fromServer(), fromPackage: c.fromPackage()}
	if name, exact := at.pkg.Ref(); !exact && name != "" && strings.HasPrefix(locked, strings.ToLower(name)) {
		key.locked = locked
	}
	return o.references.Do(ctx, key, func(ctx context.Context) (getmodules.Reference, error) {
		done, err := o.onlineSlot(ctx)
		if err != nil {
			return getmodules.Reference{}, err
		}
		defer done()
		return o.fetcher.Reference(ctx, o.withCache(getmodules.Request{
			Package: key.pkg, FromServer: key.fromServer, FromPackage: key.fromPackage, Revision: key.locked, Origin: at.origin(),
		}))
	})
}

// tagMoved compares an entry with what its name means now. Without ask, it does
// so only for names that are revisions. It returns nil if both agree, and for names
// that may mean something else later: branches, and tags that are not versions.
// Otherwise it returns a *MovedError, or why the origin could not be asked.
func (o *origins) tagMoved(ctx context.Context, c *call, entry lockfile.Module, at location, ask bool) error {
	locked := lockedRevision(entry)
	if locked == "" {
		return nil
	}
	if c.hasConstraint && !at.fromServer() && ask {
		var err error
		if at, err = o.locateLocked(ctx, c, entry); err != nil || at.revision == locked {
			return err
		}
	}
	name, exact := at.pkg.Ref()
	if exact && name == locked {
		return nil
	}
	if !exact && !(ask && (c.hasConstraint || at.fromServer() || isVersionTag(name, c.source))) {
		return nil
	}
	reference, err := o.reference(ctx, c, at, locked)
	if err != nil {
		return err
	}
	if reference.Revision == locked || !exact && reference.Kind != getmodules.ReferenceTag {
		return nil
	}
	return &MovedError{Key: entry.Key, Name: reference.String(), Locked: locked, Now: reference.Revision}
}

// isVersionTag reports whether a tag has the name of a version, so that it should
// never move.
func isVersionTag(name string, source addrs.ModuleSource) bool {
	remote, _ := source.(addrs.ModuleSourceRemote)
	return len(gittags.Candidates([]gittags.Tag{{Name: name}}, remote.Subdir)) > 0
}

// offered lists the versions that there are for a call; nil if its source names
// one revision.
func (o *origins) offered(ctx context.Context, c *call) ([]versions.Candidate, error) {
	if source, ok := c.source.(addrs.ModuleSourceRegistry); ok {
		offered, err := o.listings.Do(ctx, source.Package, func(ctx context.Context) ([]versions.Candidate, error) {
			done, err := o.listingSlot(ctx)
			if err != nil {
				return nil, err
			}
			defer done()
			return o.registry.ModuleVersions(ctx, source.Package)
		})
		return offered, c.failIf(err)
	}
	if c.hasConstraint {
		return o.tagVersions(ctx, c)
	}
	return nil, nil
}

// tagVersions lists the versions among the tags of a repository.
func (o *origins) tagVersions(ctx context.Context, c *call) ([]versions.Candidate, error) {
	if c.repository.Getter() == "oci" {
		offered, err := o.ociVersions(ctx, repositoryOf(c))
		return offered, c.failIf(err)
	}
	key := repositoryOf(c)
	tags, err := o.tags.Do(ctx, key, func(ctx context.Context) ([]getmodules.Tag, error) {
		done, err := o.listingSlot(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return o.fetcher.Tags(ctx, o.withCache(key.request()))
	})
	if err != nil {
		return nil, c.fail(err)
	}
	list := make([]gittags.Tag, len(tags))
	for i, tag := range tags {
		list[i] = gittags.Tag(tag)
	}
	return gittags.Candidates(list, c.source.(addrs.ModuleSourceRemote).Subdir), nil
}

func (o *origins) ociVersions(ctx context.Context, key repositoryKey) ([]versions.Candidate, error) {
	return o.ociTags.Do(ctx, key, func(ctx context.Context) ([]versions.Candidate, error) {
		repository, err := o.fetcher.OCIRepository(key.request())
		if err != nil {
			return nil, err
		}
		done, err := o.listingSlot(ctx)
		if err != nil {
			return nil, err
		}
		defer done()
		return ocitags.List(ctx, repository)
	})
}

// ociRevision makes sure that all tags of the selected version point to the same
// artifact. A listing does not tell. Most versions have one tag.
func (o *origins) ociRevision(ctx context.Context, c *call, offered []versions.Candidate, selected versions.Candidate, want versions.Constraints) (versions.Candidate, error) {
	same := ocitags.Same(offered, selected)
	if len(same) == 1 {
		return selected, nil
	}
	repository, err := o.fetcher.OCIRepository(repositoryOf(c).request())
	if err != nil {
		return versions.Candidate{}, err
	}
	done, err := o.onlineSlot(ctx)
	if err != nil {
		return versions.Candidate{}, err
	}
	defer done()
	for i := range same {
		if same[i].Revision, err = repository.Digest(ctx, same[i].Ref); err != nil {
			return versions.Candidate{}, err
		}
	}
	return versions.Select(same, want)
}

// checkLocation checks where a registry says that a package is.
func (o *origins) checkLocation(ctx context.Context, c *call, at location) error {
	err := o.rules.Each(func(p *policy.Policy) error {
		return errors.Join(p.CheckPackage(at.pkg), p.CheckRef(at.pkg))
	})
	if err == nil {
		err = o.checkRef(ctx, c, at)
	}
	if err != nil {
		return fmt.Errorf("the registry points to %s: %w", at.pkg.Redacted(), err)
	}
	return nil
}

// checkRef asks the origin whether an address means a branch, if the rules depend on
// it and the address does not tell. That takes a request even if the lock has the
// commit: it does not have the kind of the ref.
func (o *origins) checkRef(ctx context.Context, c *call, at location) error {
	if !o.rules.DenyBranches() || at.pkg.Getter() != "git" {
		return nil
	}
	if o.offline {
		o.events.warn(c.path, "whether its ref is a branch, which the policy denies, cannot be told without asking its origin")
		return nil
	}
	reference, err := o.reference(ctx, c, at, "")
	if err != nil {
		return err
	}
	return o.rules.Each(func(p *policy.Policy) error { return p.CheckReference(reference.String()) })
}
