package cotter

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/internal/pkgtree"
)

// Processes of one user that share the cache fetch a package once: those that need
// the same wait for the one that began, and take its answer if a fetch of their own
// would bring the same.

// sharedAnswer is an answer for other processes. pinned is the key of the revision
// that was fetched; "" if it has none.
type sharedAnswer struct {
	pkgcache.Answer
	pinned string
}

// isShared reports whether other processes may fetch the same. They do not wait for
// one whose user is asked for a password. What was fetched by way of places that a
// policy might refuse cannot be used where there is a policy.
func (p *packages) isShared(job fetchJob) bool {
	getter := job.pkg.Getter()
	if p.rules.restrictPlaces() && (job.submodules || getter == "http" || getter == "https") {
		return false
	}
	return getter != "file" && !p.fetcher.Interactive()
}

// fetchShared fetches a package unless another process has just done that, or is
// doing it.
func (p *packages) fetchShared(ctx context.Context, job fetchJob) (*fetched, error) {
	onWait := func() { p.events.emit(WaitingForFetch{Package: job.pkg.Redacted()}) }
	var seen pkgcache.Answer
	for {
		turn, err := p.cache.Fetch(ctx, job.sharedKey(), onWait)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			// The cache cannot keep other processes away, which may then fetch the
			// same.
			got, _, err := p.download(ctx, job)
			return got, err
		}
		last := turn.Last()
		if last.Done.Equal(seen.Done) && last.Failed.Equal(seen.Failed) {
			got, err := p.fetchInTurn(ctx, job, turn)
			return got, errors.Join(err, turn.Release())
		}
		// Others need not wait while this run looks at an answer.
		if err := turn.Release(); err != nil {
			return nil, err
		}
		got, err := p.takeAnswer(ctx, job, last)
		if got != nil || err != nil {
			return got, err
		}
		if last.Failed.After(p.began) {
			// It failed for another process while this one was waiting. Those that
			// wait should not fail one after another.
			got, _, err := p.download(ctx, job)
			return got, err
		}
		seen = last
	}
}

// fetchInTurn fetches a package and records the answer for those that wait. If it
// cannot be recorded, they fetch as well.
func (p *packages) fetchInTurn(ctx context.Context, job fetchJob, turn *pkgcache.Fetch) (*fetched, error) {
	got, answer, err := p.download(ctx, job)
	if err != nil {
		if ctx.Err() == nil {
			last := turn.Last()
			last.Failed = time.Now()
			_ = turn.Record(last)
		}
		return nil, err
	}
	if answer.pinned != "" && answer.pinned != job.sharedKey() {
		if pinned, err := p.cache.TryFetch(answer.pinned); pinned != nil && err == nil {
			_ = errors.Join(pinned.Record(answer.Answer), pinned.Release())
		}
	}
	_ = turn.Record(answer.Answer)
	return got, nil
}

// takeAnswer takes what another process fetched if a fetch by this one would bring
// the same; else it returns nil.
func (p *packages) takeAnswer(ctx context.Context, job fetchJob, last pkgcache.Answer) (*fetched, error) {
	if job.want != "" && last.Tree != job.want {
		return nil, nil // only a fetch can tell whether the origin differs from the lock
	}
	if last.Tree != "" && (last.Tree == job.want || p.isCurrent(job, last)) {
		return p.readAnswer(ctx, job, last)
	}
	if job.revision != "" || last.Revision == "" {
		return nil, nil
	}
	reference, err := p.referenceOf(ctx, job, last.Revision)
	if err != nil || reference.Revision == "" {
		return nil, ctx.Err() // the error of the fetch says what is wrong
	}
	if reference.Revision != last.Revision {
		if last = p.pinnedAnswer(job.pinnedKey(reference.Revision)); last.Tree == "" {
			return nil, nil
		}
	}
	return p.readAnswer(ctx, job, last)
}

// isCurrent reports whether an answer is as good as one to this run: it is for
// what never changes, or was given after the run began. For archives, which only a
// transfer can compare, it is enough that the transfer ended after that.
func (p *packages) isCurrent(job fetchJob, last pkgcache.Answer) bool {
	given := last.Asked
	if last.Revision == "" {
		given = last.Done
	}
	return job.revision != "" && job.revision == last.Revision || given.After(p.began) && !given.After(time.Now())
}

func (p *packages) pinnedAnswer(pinned string) pkgcache.Answer {
	turn, err := p.cache.TryFetch(pinned)
	if turn == nil || err != nil {
		return pkgcache.Answer{}
	}
	last := turn.Last()
	if turn.Release() != nil {
		return pkgcache.Answer{}
	}
	return last
}

// readAnswer returns the package of an answer; nil if the cache no longer has it,
// or has it damaged.
func (p *packages) readAnswer(ctx context.Context, job fetchJob, a pkgcache.Answer) (*fetched, error) {
	done, err := p.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := p.cache.Read(a.Tree)
	if err != nil {
		return nil, nil //nolint:nilerr // a fetch repairs whatever it is
	}
	for _, warning := range a.Warnings {
		p.events.warn(job.path, warning)
	}
	got := &fetched{
		resolved: addrs.ParseModulePackage(a.Package),
		archive:  a.Archive,
		tree:     pkgtree.New(tree),
		gitlinks: a.Gitlinks,
	}
	for _, link := range a.LeftOut {
		got.leftOut = append(got.leftOut, getmodules.Link(link))
	}
	return got, nil
}

// answer is what others need to know of a package that was fetched.
func (j fetchJob) answer(pkg *getmodules.Package, t1 hashing.Hash, asked time.Time) sharedAnswer {
	a := sharedAnswer{Answer: pkgcache.Answer{
		Tree:     t1,
		Package:  pkg.Resolved.String(),
		Revision: cmp.Or(j.revision, pkg.Revision),
		Archive:  hashing.Hash(pkg.ArchiveSum),
		Gitlinks: pkg.Gitlinks,
		Warnings: pkg.Warnings,
		Asked:    asked,
		Done:     time.Now(),
	}}
	for _, link := range pkg.LeftOut {
		a.LeftOut = append(a.LeftOut, pkgcache.Link(link))
	}
	if j.pkg.HasRevisions() && isPublic(j.pkg) && a.Revision != "" && pkg.Subdir == "" {
		a.pinned = j.pinnedKey(a.Revision)
	}
	return a
}

// sharedKey names what a fetch brings, for all processes of the user. An address
// that not everybody may name has another key for each that names it. The
// credentials of an address are part of the key unless it is pinned: with others a
// server may send something else.
func (j fetchJob) sharedKey() string {
	name := j.pkg.String() + j.extent()
	if j.revision != "" {
		name = j.pinnedKey(j.revision)
	}
	if j.hosted {
		return "hosted " + name
	}
	if isPublic(j.pkg) {
		return name
	}
	by := ""
	if j.fromPackage {
		by = "a package"
	}
	return strings.Join([]string{name, "named by", j.at.origin(), by}, " ")
}

// pinnedKey names a revision of a package, by whichever ref it was found.
func (j fetchJob) pinnedKey(revision string) string {
	return j.pkg.WithoutCredentials().Unpinned().String() + "#" + url.QueryEscape(revision) + j.extent()
}

// extent tells packages apart of which more or less is fetched. Addresses have no
// space.
func (j fetchJob) extent() string {
	if j.submodules {
		return " with submodules"
	}
	return ""
}

// isPublic reports whether servers and packages may name an address as the user
// may.
func isPublic(pkg addrs.ModulePackage) bool {
	u, err := pkg.URL()
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "ssh" || u.Scheme == "oci")
}
