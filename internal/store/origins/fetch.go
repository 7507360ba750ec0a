package origins

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/process/trace"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/text/textform"
)

// Fetched is a package in the cache, hashed from disk.
type Fetched struct {
	Resolved addrs.ModulePackage
	// Archive is the zh of the archive, or "" if none counts.
	Archive hashing.Hash
	Tree    *store.Tree
	// Bytes were downloaded by this process.
	Bytes int64
	// Gitlinks are unfetched submodules, and LeftOut the links that are not part of the package.
	Gitlinks []string
	LeftOut  []getmodules.Link

	// answer is recorded for other processes, and under pinnedKey, unless that is "", for those that fetch
	// the same revision.
	answer    store.Answer
	pinnedKey string
}

func newFetched(answer store.Answer, tree *store.Tree) *Fetched {
	got := &Fetched{
		Resolved: addrs.ParseModulePackage(answer.Package),
		Archive:  answer.Archive,
		Tree:     tree,
		Gitlinks: textform.Names(answer.Gitlinks),
		answer:   answer,
	}
	for _, link := range answer.LeftOut {
		got.LeftOut = append(got.LeftOut, getmodules.Link(link))
	}
	return got
}

// Hashes are in the form of a lock.
func (f *Fetched) Hashes() []hashing.Hash {
	hashes := []hashing.Hash{f.Tree.H1(), f.Tree.T1()}
	if f.Archive != "" {
		hashes = append(hashes, f.Archive)
	}
	return hashes
}

type artifact struct {
	key fetchKey
	got *Fetched
}

// Fetch fetches a package once per client.
func (o *Origins) Fetch(ctx context.Context, from callsource.Source, at Location, pin Pin) (*Fetched, error) {
	ctx = o.Rules.ForModules(ctx)
	if err := o.check(ctx, from); err != nil {
		return nil, err
	}
	job := o.newJob(from, at, pin)
	if !o.Offline {
		o.OnEvent(event.PackageNeeded{Path: from.Path, Package: job.pkg.Redacted()})
	}
	fetch := o.fetchOnce
	if job.pkg.Getter() == "oci" && job.Revision == "" {
		fetch = o.fetchArtifact
	}
	got, err := fetch(ctx, job)
	if err != nil {
		return nil, err
	}
	return got, o.Rules.Allow(got.Resolved)
}

func (o *Origins) fetchOnce(ctx context.Context, job fetchJob) (*Fetched, error) {
	return o.packages.do(ctx, o, job.fetchKey, func(ctx context.Context) (*Fetched, error) {
		if o.Offline {
			return nil, errNotAtHand
		}
		fetch := o.download
		if o.isShared(job) {
			fetch = o.downloadOrShare
		}
		got, err := fetch(ctx, job)
		if err != nil {
			return nil, err
		}
		for _, warning := range got.answer.Warnings {
			o.warn(job.from.Path, warning)
		}
		return got, nil
	})
}

// isShared reports whether other processes may wait for a fetch: not if it can prompt the user for a
// password.
func (o *Origins) isShared(job fetchJob) bool {
	return job.pkg.Getter() != "file" && !o.Fetcher.Interactive()
}

// fetchArtifact fetches an artifact of unknown digest. Two tags can be compared only by requesting the
// digest of each, and most repositories are used with one. So the first is fetched at once, and others wait
// for it and then request their digests.
func (o *Origins) fetchArtifact(ctx context.Context, job fetchJob) (*Fetched, error) {
	first, err := o.artifacts.do(ctx, o, job.pkg.Repository(), func(ctx context.Context) (artifact, error) {
		got, err := o.fetchOnce(ctx, job)
		return artifact{job.fetchKey, got}, err
	})
	if first.key == job.fetchKey {
		return first.got, err
	}
	if ctx.Err() != nil || o.Offline {
		return o.fetchOnce(ctx, job)
	}
	now, err := o.Reference(ctx, job.from, job.at, "")
	if err != nil {
		return o.fetchOnce(ctx, job) // its error describes the problem
	}
	if first.got != nil && first.got.Resolved.Revision() == now.Revision {
		return first.got, nil
	}
	job.Revision = now.Revision
	return o.fetchOnce(ctx, job)
}

func (o *Origins) download(ctx context.Context, job fetchJob) (*Fetched, error) {
	done, err := wait(ctx, o.Transfers)
	if err != nil {
		return nil, err
	}
	defer done()
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	work := func(ctx context.Context) (err error) { // the fetcher calls it when the transfer is over
		if release == nil {
			release, err = o.Slot(ctx)
		}
		return err
	}
	staged := o.Cache.Stage()
	defer func() { _ = os.RemoveAll(staged) }() // a later clean-up removes leftovers
	shown, asked := job.pkg.Redacted(), time.Now()
	o.OnEvent(event.FetchStarted{Package: shown})
	traced, end := trace.Start(ctx, trace.Operation{Kind: "fetch", Target: shown})
	pkg, err := o.downloadTo(traced, job, staged, work)
	end(err)
	if err == nil {
		err = work(ctx) // the fetcher may not have done so
	}
	if err != nil {
		return nil, err
	}
	for _, warning := range pkg.FetchWarnings {
		o.warn(job.from.Path, warning)
	}
	// Links outside of the origin's subdirectory are not part of the package.
	pkg.LeftOut = linksBelow(pkg.LeftOut, pkg.Subdir)
	dir := filepath.Join(staged, filepath.FromSlash(pkg.Subdir))
	tree, err := treeOf(ctx, pkg, dir)
	if err == nil {
		tree = o.Cache.Same(tree)
		err = o.Cache.Publish(dir, tree.T1())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	o.OnEvent(event.FetchDone{Package: shown, Bytes: pkg.Bytes})
	return job.downloaded(pkg, tree, asked), nil
}

// treeOf reads the directory of a package only if its fetcher has not hashed it. What is in the store is hashed again before
// each use, so a fetcher that is wrong harms only itself.
func treeOf(ctx context.Context, pkg *getmodules.Package, dir string) (*store.Tree, error) {
	if pkg.Tree != nil && pkg.Subdir == "" {
		return store.NewTree(pkg.Tree), nil
	}
	return store.ReadTree(ctx, dir)
}

func (o *Origins) downloadTo(ctx context.Context, job fetchJob, dir string, work func(context.Context) error) (*getmodules.Package, error) {
	if job.hosted {
		if err := work(ctx); err != nil {
			return nil, err
		}
		return o.downloadHosted(ctx, job.at, dir)
	}
	shown := job.pkg.Redacted()
	req := o.withRun(job.at.request(job.from))
	req.Revision, req.Submodules = job.Revision, job.submodules
	req.NoCache = req.NoCache || job.Fresh
	req.Dir, req.Begin = dir, work
	req.Progress = func(done, total int64) {
		o.OnEvent(event.FetchProgress{Package: shown, Done: done, Total: total})
	}
	return o.Fetcher.Fetch(ctx, req)
}

func (o *Origins) withRun(req getmodules.Request) getmodules.Request {
	req.Scratch, req.NoCache, req.Allow = o.Cache.StageDir(), o.CacheErr != nil, o.Rules.Allow
	return req
}

func (o *Origins) downloadHosted(ctx context.Context, at Location, dir string) (*getmodules.Package, error) {
	archive, err := os.Create(dir + ".archive")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = archive.Close()
		_ = os.Remove(archive.Name()) // a later clean-up removes leftovers
	}()
	if err := o.Registry.Download(ctx, at.asked, *at.answer, archive); err != nil {
		return nil, err
	}
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	pkg, err := o.Fetcher.ExtractArchive(ctx, archive, "", dir)
	if err != nil {
		return nil, fmt.Errorf("the archive that registry %s hosts: %w", at.asked.Host.ForDisplay(), err)
	}
	pkg.Resolved = at.Package.WithoutCredentials()
	return pkg, nil
}

func linksBelow(links []getmodules.Link, dir string) []getmodules.Link {
	if dir == "" {
		return links
	}
	var below []getmodules.Link
	for _, link := range links {
		if pathsafe.Within(link.Path, dir) {
			link.Path = strings.TrimPrefix(link.Path, dir+"/")
			below = append(below, link)
		}
	}
	return below
}
