package cotter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Origin is where the package of a call comes from now, beside what the lock
// has.
type Origin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call ModuleCall
	// Package is the package's address, without what pins it, for people.
	Package string
	// Ref is the name that the origin goes by: "tag v1.2.0", "branch main",
	// "HEAD"; "" where there is none, as for archives.
	Ref string
	// Locked is what the lock has and Now what the origin leads to: a commit, a
	// digest, or the h1 hash of an archive that was fetched to compare it.
	Locked, Now string
	// Err is why there is no telling.
	Err error
}

// Moved reports whether the origin leads elsewhere than the lock.
func (o Origin) Moved() bool { return o.Err == nil && o.Locked != o.Now }

// VerifyRemote asks the origins of all locked packages whether tags, digests,
// branches and the answers of registries still lead to what the lock has.
// Archives, which have no revisions, are fetched and hashed. The modules must
// be installed; nothing is changed. The origins are in the order of the paths.
func (in *Installer) VerifyRemote(ctx context.Context, req Request) ([]Origin, error) {
	l, err := in.loader(ctx, req)
	if err != nil {
		return nil, err
	}
	if l.rules, err = req.readRules(); err != nil {
		return nil, err
	}
	nodes, failures, err := l.survey(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(ctx.Err(), failures.join()); err != nil {
		return nil, err
	}
	shared, done, err := in.sharedSession(l.key)
	if err != nil {
		return nil, err
	}
	defer done()
	v := &originVerifier{&run{in: in, req: req, events: &events{fn: in.OnEvent}, rules: l.rules, dialect: l.dialect, session: shared}}
	origins := make([]Origin, 0, len(nodes))
	var wait sync.WaitGroup
	for _, n := range nodes {
		entry, locked := l.lock.Module(n.path.String())
		if !locked || !n.ownsPackage() {
			continue
		}
		origins = append(origins, Origin{Path: n.path, Call: n.call})
		o := &origins[len(origins)-1] // which stays where it is: there is room for all
		wait.Go(func() { v.compare(ctx, n, entry, o) })
	}
	wait.Wait()
	return origins, ctx.Err()
}

// originVerifier asks each origin once.
type originVerifier struct{ *run }

// originKey is what makes two questions the same.
type originKey struct {
	pkg                     addrs.ModulePackage
	fromServer, fromPackage bool
	// locked is the commit of the lock if the address may abbreviate it.
	locked string
}

func (k originKey) request(at location) getmodules.Request {
	req := getmodules.Request{Package: k.pkg, FromServer: k.fromServer, FromPackage: k.fromPackage, Revision: k.locked}
	if at.from != nil {
		req.Origin = at.from.Origin
	}
	return req
}

// compare fills in what there is to say about one package.
func (v *originVerifier) compare(ctx context.Context, n *node, entry lockfile.Module, o *Origin) {
	if reason := staleness(entry, n); reason != "" {
		o.Err = n.fail(errors.New(reason))
		return
	}
	at, err := v.origin(ctx, n, entry)
	if err != nil {
		o.Err = err
		return
	}
	o.Package = at.pkg.Redacted()
	lockedPackage, lockedSubdir := splitPackage(entry.Package)
	if at.from != nil && !isPattern(at.subdir) && cleanSubdir(at.subdir) != cleanSubdir(lockedSubdir) {
		o.Ref, o.Locked, o.Now = "directory", lockedSubdir, at.subdir
		return
	}
	reference, err := v.leadsTo(ctx, n, at, revisionOf(entry.Package))
	switch {
	case err != nil:
		o.Err = n.fail(err)
	case reference.Revision != "":
		o.Ref, o.Locked, o.Now = reference.String(), revisionOf(entry.Package), reference.Revision
		if o.Locked == "" { // it was an archive
			o.Ref, o.Locked, o.Now = "address", lockedPackage.Redacted(), o.Package
		}
	default:
		o.Locked = string(hashOfScheme(entry, "h1"))
		got, err := v.fetch(ctx, n, at, "", "")
		if o.Err = n.failIf(err); err != nil {
			return
		}
		o.Now = string(got.tree.H1())
		if at := packageAddress(got.resolved, ""); !o.Moved() && !lockedPackage.IsZero() && at != packageAddress(lockedPackage, "") {
			o.Ref, o.Locked, o.Now = "address", lockedPackage.Redacted(), got.resolved.Redacted()
		}
		if zh := hashOfScheme(entry, "zh"); !o.Moved() && zh != "" && got.archive != "" {
			o.Locked, o.Now = string(zh), string(got.archive)
		}
	}
}

// reference asks where an address leads, once in a session. locked is the commit
// that the lock has, "" if it has none.
func (r *run) reference(ctx context.Context, n *node, at location, locked string) (getmodules.Reference, error) {
	key := originKey{pkg: at.pkg, fromServer: at.from != nil, fromPackage: n.untrusted()}
	if name, _ := at.pkg.Ref(); git.IsShortID(strings.ToLower(name)) {
		key.locked = locked
	}
	return r.references.get(key, func() (getmodules.Reference, error) {
		done, err := r.onlineSlot(ctx)
		if err != nil {
			return getmodules.Reference{}, err
		}
		defer done()
		return r.fetcher.Reference(ctx, r.prepared(key.request(at)))
	})
}

// origin is where the locked version of a call is now.
func (r *run) origin(ctx context.Context, n *node, entry lockfile.Module) (location, error) {
	if _, ok := n.source.(addrs.ModuleSourceRegistry); ok || !n.ranged {
		return r.locate(ctx, n, entry.Version)
	}
	offered, err := r.offeredTags(ctx, n)
	if err != nil {
		return location{}, err
	}
	locked, err := versions.Parse(entry.Version)
	if err != nil {
		return location{}, n.fail(err)
	}
	tag := ""
	for _, candidate := range offered {
		if candidate.Version == locked && (tag == "" || candidate.Revision == revisionOf(entry.Package)) {
			tag = candidate.Ref
		}
	}
	if tag == "" {
		return location{}, n.fail(fmt.Errorf("%s: the version %s is no longer offered", n.repository.Redacted(), locked))
	}
	return location{pkg: tagged(n.repository, tag)}, nil
}

// leadsTo asks where an address leads; nowhere, if the registry has the archive
// itself. locked is as for reference.
func (r *run) leadsTo(ctx context.Context, n *node, at location, locked string) (getmodules.Reference, error) {
	if at.from != nil && at.from.Direct {
		return getmodules.Reference{}, nil
	}
	return r.reference(ctx, n, at, locked)
}
