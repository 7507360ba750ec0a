package providerfetch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/process/trace"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
)

// Get does not ask the source if the evidence of an earlier run counts and the package is at hand, or if
// Offers confirm and have it. If the lock has an h1 or a zh and the package matches none, the error is a
// *[getproviders.MismatchError]. Its package is kept only with [Getter.Complete], for [Getter.GetUnlocked].
func (g *Getter) Get(ctx context.Context, want Want) (*Got, error) {
	s := &search{Getter: g, want: want}
	ladder := lockentry.Ladder[*Got]{
		Remembered: func() evidence.Evidence { return s.remember(ctx) },
		Mirrors:    s.askOffers,
		Accepts:    g.Rule.AcceptsProvider,
		Check:      s.checkRemembered,
		AtHand:     []lockentry.Lookup[*Got]{s.fromStore, s.installed, s.fromOffers, s.fromPluginCache},
		Deliver:    func(ctx context.Context, _ evidence.Evidence) (*Got, error) { return s.fromSource(ctx) },
		Origin: func(ctx context.Context) (*Got, evidence.Evidence, error) {
			got, err := s.fromSource(ctx)
			return got, evidence.Evidence{}, err // the evidence is in got
		},
	}
	got, _, err := ladder.Climb(ctx)
	switch {
	case err != nil:
		return nil, err
	case g.Offers != nil && len(recognized(want.Locked)) > 0:
		got.ownHash() // whether the offers or the source had the package
	case !s.fromOrigin:
		got.ownHash()
		err = g.complete(ctx, want, &got.Proof)
	}
	return got, err
}

type search struct {
	*Getter
	want Want
	// release is what an earlier run learned. Its evidence is zero if nothing counts.
	release    store.Release
	fromOrigin bool
	// offered is the package of an offer, once Offers was asked; deliver are those that can only deliver
	// bytes, and reasons say why the others cannot be used.
	asked   bool
	offered *Got
	deliver []Offer
	reasons []error
}

// remember looks for the evidence of an earlier run. A lock alone is not enough: it can come with a
// repository and name the content of another provider. Otherwise what is installed is the evidence, if
// [Getter.Rule] accepts it.
func (s *search) remember(ctx context.Context) evidence.Evidence {
	s.release = s.remembered(s.want, func(r store.Release) bool { return s.Store.Matches(r.H1, s.want.Locked) != "" })
	if s.release.Evidence.IsZero() {
		s.release = s.believed(ctx, s.want)
	}
	return s.release.Evidence
}

func (s *search) checkRemembered(_ context.Context, e evidence.Evidence) error {
	if e.Since.IsZero() {
		return nil // an offer, which was checked when it was proven, or what is installed
	}
	return s.accept(authentication(s.release))
}

func (s *search) fromStore(ctx context.Context) (*Got, bool, error) {
	if s.release.Evidence.IsZero() {
		return nil, false, nil
	}
	found, err := s.stored(ctx, s.want, s.release.H1)
	if found == nil || err != nil {
		return nil, false, err
	}
	return &Got{Package: found, Proof: s.rememberedProof(s.want, s.release)}, true, nil
}

func (s *search) installed(ctx context.Context) (*Got, bool, error) {
	if s.release.Evidence.IsZero() {
		return nil, false, nil
	}
	found, err := s.projectPackage(ctx, s.want)
	if found == nil || err != nil || found.H1 != s.release.H1 {
		return nil, false, err
	}
	return &Got{Package: found, Proof: s.rememberedProof(s.want, s.release)}, true, nil
}

func (g *Getter) projectPackage(ctx context.Context, want Want) (*store.ProviderPackage, error) {
	if g.Installed == "" {
		return nil, nil
	}
	return g.Store.Installed(ctx, g.Installed, store.ProviderPath(want.Provider, want.Version, want.Platform))
}

// believed returns the installed release with a hash of the lock. Its evidence is zero unless the rule
// accepts what is installed.
func (g *Getter) believed(ctx context.Context, want Want) (release store.Release) {
	e := evidence.Evidence{Kind: evidence.Installed}
	if !g.Rule.AcceptsProvider(e) {
		return release
	}
	found, err := g.projectPackage(ctx, want)
	if err != nil || found == nil || g.Store.Matches(found.H1, want.Locked) == "" {
		return release
	}
	release.H1, release.Evidence = found.H1, e
	return release
}

func (s *search) fromPluginCache(ctx context.Context) (*Got, bool, error) {
	if s.PluginCache.Dir == "" || s.release.Evidence.IsZero() {
		return nil, false, nil
	}
	pkg, err := s.PluginCache.Package(ctx, s.want.Provider, s.want.Version, s.want.Platform, []hashing.Hash{s.release.H1})
	if err != nil {
		return nil, false, ctx.Err()
	}
	j := newJob(s.Getter, s.want, rememberedPackage{pkg, authentication(s.release)})
	if matched := s.Store.Matches(s.release.H1, s.want.Locked); matched.Scheme() == "zh" {
		j.archive = matched // the lock has no h1, and the directory has no archive
	}
	got, err := j.run(ctx)
	return got, err == nil, err
}

func (s *search) fromSource(ctx context.Context) (*Got, error) {
	if _, _, err := s.fromOffers(ctx); err != nil {
		return nil, err
	}
	pkg, err := s.find(ctx, s.want)
	if errors.Is(err, ErrNotAtHand) {
		reasons := append(s.reasons, s.unconfirmedCopy(ctx)...)
		return nil, cmp.Or(errors.Join(reasons...), ErrNotAtHand)
	}
	if err != nil {
		return nil, err
	}
	got, err := newJob(s.Getter, s.want, s.delivered(s.want, pkg, s.deliver)).run(ctx)
	if err == nil {
		s.fromOrigin = true
		s.recordHashes(s.want, got.Proof)
	}
	return got, err
}

// unconfirmedCopy returns the error for a package in the plugin cache that nothing confirms, unless there
// are other reasons.
func (s *search) unconfirmedCopy(ctx context.Context) []error {
	if s.PluginCache.Dir == "" || len(s.reasons) > 0 {
		return nil
	}
	pkg, err := s.PluginCache.Package(ctx, s.want.Provider, s.want.Version, s.want.Platform, s.want.Locked)
	if err != nil {
		return nil
	}
	return []error{fmt.Errorf("%w: %w", &getproviders.UnconfirmedError{Location: pkg.Location()}, ErrNotAtHand)}
}

// stored treats a damaged package as missing.
func (g *Getter) stored(ctx context.Context, want Want, h hashing.Hash) (*store.ProviderPackage, error) {
	found, err := g.Store.Find(ctx, h)
	if errors.Is(err, store.ErrDamaged) {
		g.tell(event.Warning{Message: fmt.Sprintf("the package of provider %s %s in the cache was damaged, and is fetched again", want.Provider.ForDisplay(), want.Version)})
		return nil, nil
	}
	return found, err
}

type job struct {
	*Getter
	want Want
	pkg  getproviders.Package
	// offered is set for a package of a bundle or a mirror.
	offered bool
	// proven is closed when the source has proven the package; auth is the result.
	proven chan struct{}
	auth   getproviders.Authentication
	// archive is its zh, and bytes its size if it was downloaded.
	archive  hashing.Hash
	bytes    int64
	warnings []string
}

func newJob(g *Getter, want Want, pkg getproviders.Package) *job {
	return &job{Getter: g, want: want, pkg: pkg, proven: make(chan struct{}), archive: pkg.Archive()}
}

func (j *job) run(ctx context.Context) (*Got, error) {
	if err := j.checkArchive(); err != nil {
		return nil, err
	}
	var found *store.ProviderPackage
	err := j.proveBeside(ctx, func(ctx context.Context) (err error) {
		if dir := j.pkg.Dir(); dir != "" {
			found, err = j.fromDir(ctx, dir)
		} else {
			found, err = j.fromArchive(ctx)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	got := &Got{Package: found, Proof: j.proof(found.H1), Warnings: j.warnings}
	if err := j.checkReported(got.Proof); err != nil {
		return nil, err
	}
	j.record(got.Proof)
	return got, nil
}

// proveBeside runs get while the source proves the package and [Getter.Accept] decides. If it is not
// proven, the context of get is canceled.
func (j *job) proveBeside(ctx context.Context, get func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if j.auth, err = j.pkg.Authenticate(ctx); err == nil {
			err = j.checkProof()
		}
		if err == nil {
			close(j.proven)
		}
		return err
	})
	group.Go(func() error { return get(ctx) })
	return group.Wait()
}

func (j *job) checkProof() error {
	if e := j.auth.Evidence; !j.Rule.AcceptsProvider(e) {
		return &getproviders.UnconfirmedError{Location: j.pkg.Location(), Evidence: e}
	}
	return j.accept(j.auth)
}

// awaitProof must be called before the package is unpacked.
func (j *job) awaitProof(ctx context.Context) error {
	select {
	case <-j.proven:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *job) fromDir(ctx context.Context, dir string) (*store.ProviderPackage, error) {
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := j.outside(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	return found, j.checkContent(found.H1)
}

// outside hashes a directory of another program. A package for this machine must have a program that it can run.
func (j *job) outside(ctx context.Context, dir string) (*store.ProviderPackage, error) {
	runs := ""
	if j.want.Platform == addrs.CurrentPlatform() {
		runs = j.want.Provider.Type
	}
	return j.Store.Outside(ctx, dir, runs)
}

func (j *job) fromArchive(ctx context.Context) (found *store.ProviderPackage, err error) {
	known := func() (bool, error) {
		found, err = j.unpacked(ctx)
		return found != nil, err
	}
	if ok, err := known(); ok || err != nil {
		return found, err
	}
	if found, err = j.unpackedElsewhere(ctx); found != nil || err != nil {
		return found, err
	}
	err = j.withArchive(ctx, known, func(file *os.File) error {
		found, err = j.unpack(ctx, file)
		return err
	})
	return found, err
}

// withArchive downloads the archive and calls use when the source has proven it, unless known finds that
// unnecessary. One process at a time downloads an archive.
func (j *job) withArchive(ctx context.Context, known func() (bool, error), use func(*os.File) error) error {
	unlock, err := j.Store.LockArchive(ctx, j.archive, func() { j.tell(event.WaitingForFetch{Package: j.pkg.Location()}) })
	if err != nil {
		return err
	}
	defer unlock()
	if ok, err := known(); ok || err != nil {
		return err
	}
	file, err := j.download(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // otherwise the store removes it
	if j.pkg.Archive() == "" {                                               // its hash is known only now
		if ok, err := known(); ok || err != nil {
			return err
		}
	}
	if err := j.awaitProof(ctx); err != nil {
		return err
	}
	return use(file)
}

func (j *job) unpacked(ctx context.Context) (*store.ProviderPackage, error) {
	if j.archive == "" {
		return nil, nil
	}
	found, err := j.stored(ctx, j.want, j.archive)
	if found == nil || err != nil {
		return nil, err
	}
	return found, j.checkContent(found.H1)
}

// unpackedElsewhere returns the package that is installed or in the plugin cache, if it has the content of
// the archive, or nil. The lock's h1 can be forged together with a directory, so the content must be that
// of the same archive when this user unpacked it, or the source must have confirmed the h1.
func (j *job) unpackedElsewhere(ctx context.Context) (*store.ProviderPackage, error) {
	h1 := j.Store.UnpacksTo(j.archive)
	if j.offered || h1 == "" && !j.pkg.ReportsH1() {
		return nil, nil
	}
	found, err := j.unproven(ctx)
	if len(found) == 0 || err != nil {
		return nil, err
	}
	if err := j.awaitProof(ctx); err != nil {
		return nil, err
	}
	if h1 == "" {
		h1 = reportedH1(j.auth)
	}
	for _, pkg := range found {
		if pkg.H1 == h1 {
			return pkg, j.checkContent(h1)
		}
	}
	return nil, nil
}

// unproven returns the unpacked packages of this version that nothing confirms: the project's own, and that
// in the plugin cache if the lock has its hash.
func (j *job) unproven(ctx context.Context) ([]*store.ProviderPackage, error) {
	var all []*store.ProviderPackage
	own, err := j.projectPackage(ctx, j.want)
	if err != nil {
		return nil, err
	}
	if own != nil {
		all = append(all, own)
	}
	if j.PluginCache.Dir == "" {
		return all, nil
	}
	pkg, err := j.PluginCache.Package(ctx, j.want.Provider, j.want.Version, j.want.Platform, j.want.Locked)
	if err != nil {
		return all, ctx.Err()
	}
	if cached, err := j.outside(ctx, pkg.Dir()); err == nil {
		all = append(all, cached)
	}
	return all, ctx.Err()
}

func (j *job) download(ctx context.Context) (_ *os.File, err error) {
	done, err := j.slot(ctx, transfer)
	if err != nil {
		return nil, err
	}
	defer done()
	file, err := j.stagedFile()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = errors.Join(file.Close(), os.Remove(file.Name())) // otherwise the store removes it
		}
	}()
	ctx, end := trace.Start(ctx, trace.Operation{Kind: "fetch", Target: j.pkg.Location()})
	err = j.pkg.Download(ctx, file, func(done, total int64) {
		e := j.progress()
		e.Done, e.Total = done, max(total, 0)
		j.tell(e)
	})
	end(err)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if j.bytes = info.Size(); j.archive == "" {
		j.archive, err = archiveHash(file)
	}
	return file, err
}

func (g *Getter) stagedFile() (*os.File, error) {
	name, err := g.Store.Stage()
	if err != nil {
		return nil, err
	}
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func archiveHash(file *os.File) (hashing.Hash, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hashing.Hash(fmt.Sprintf("zh:%x", sum.Sum(nil))), nil
}

func (j *job) unpack(ctx context.Context, file *os.File) (*store.ProviderPackage, error) {
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	j.tellUnpacking()
	dir, err := j.Store.Stage()
	if err != nil {
		return nil, err
	}
	archive, err := providerzip.Open(file, j.bytes, j.want.Provider.Type)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	h1, err := archive.Unpack(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	j.Store.RecordArchive(j.archive, h1)
	j.warnings = archive.Warnings()
	mismatch := j.checkContent(h1)
	if mismatch != nil && !j.Complete {
		return nil, errors.Join(mismatch, os.RemoveAll(dir))
	}
	found, err := j.Store.Publish(ctx, dir, h1)
	if mismatch != nil {
		return nil, mismatch
	}
	return found, err
}

func (j *job) progress() event.ProviderProgress {
	return event.ProviderProgress{Provider: j.want.Provider, Version: j.want.Version, Platform: j.want.Platform, Stored: j.offered}
}

func (j *job) tellUnpacking() {
	e := j.progress()
	e.Unpacking = true
	j.tell(e)
}
