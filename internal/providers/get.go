package providers

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/internal/providerzip"
)

// Get gets a package. The source is not asked if the store has the package with one of the locked
// hashes and the source has confirmed it before, or if Offers or PluginCache have it.
//
// If the lock has an h1 or a zh and the package matches none of them, the error is a
// *[getproviders.MismatchError], and nothing of the package is kept.
func (g *Getter) Get(ctx context.Context, want Want) (*Got, error) {
	found, err := g.confirmed(ctx, want)
	if found != nil || err != nil {
		return found, err
	}
	got, deliver, reasons := g.fromOffers(ctx, want)
	if got != nil {
		return got, nil
	}
	pkg, err := g.locate(ctx, want)
	if errors.Is(err, ErrNotAtHand) {
		return nil, notAtHand(reasons)
	}
	if err != nil {
		return nil, err
	}
	return newJob(g, want, g.delivered(want, pkg, deliver)).run(ctx)
}

// locate finds a package in the stock tools' plugin cache or at the source.
func (g *Getter) locate(ctx context.Context, want Want) (getproviders.Package, error) {
	if g.PluginCache.Dir != "" && len(want.Locked) > 0 {
		pkg, err := g.PluginCache.Package(ctx, want.Provider, want.Version, want.Platform, want.Locked)
		if err == nil || ctx.Err() != nil {
			return pkg, err
		}
	}
	if g.Offline {
		return nil, ErrNotAtHand
	}
	return g.Source.Package(ctx, want.Provider, want.Version, want.Platform)
}

// confirmed finds a package in the store by a locked hash. It returns the package only if this
// user has got it before for this very release. A lock alone is not enough: it can come with a
// repository and name the content of another provider.
func (g *Getter) confirmed(ctx context.Context, want Want) (*Got, error) {
	release, ok := g.Store.Release(want.Provider, want.Version, want.Platform)
	if !ok || g.Store.Matches(release.H1, want.Locked) == "" {
		return nil, nil
	}
	found, err := g.find(ctx, want, []hashing.Hash{release.H1})
	if found == nil || err != nil {
		return nil, err
	}
	auth := authentication(release)
	if err := g.accept(auth); err != nil {
		return nil, err
	}
	return &Got{Package: found, Proof: Proof{
		Archive: release.Archive, H1: found.H1, Hashes: []hashing.Hash{found.H1}, Matched: g.Store.Matches(found.H1, want.Locked),
		Authentication: auth,
	}}, nil
}

// authentication returns how a package was proven when this user first got it.
func authentication(r providerstore.Release) getproviders.Authentication {
	return getproviders.Authentication{Signed: r.Signed, KeyID: r.KeyID, Key: r.Key, Weak: r.Weak, Hashes: r.Hashes}
}

// find looks for a package in the store. It treats a damaged package as missing.
func (g *Getter) find(ctx context.Context, want Want, hashes []hashing.Hash) (*providerstore.Package, error) {
	found, err := g.Store.Find(ctx, hashes)
	if errors.Is(err, providerstore.ErrDamaged) {
		g.tell(Event{Want: want, Kind: Damaged})
		return nil, nil
	}
	return found, err
}

// job gets one package from its source.
type job struct {
	*Getter
	want Want
	pkg  getproviders.Package
	// offered reports whether the package comes from a bundle or a mirror.
	offered bool
	// proven is closed when the source has proven the package; auth is the result.
	proven chan struct{}
	auth   getproviders.Authentication
	// archive is the zh hash of the archive, and bytes is its size if it was downloaded.
	archive hashing.Hash
	bytes   int64
	// warnings are about the content, if it was unpacked.
	warnings []string
}

func newJob(g *Getter, want Want, pkg getproviders.Package) *job {
	return &job{Getter: g, want: want, pkg: pkg, proven: make(chan struct{}), archive: pkg.Archive()}
}

// run gets the package while the source proves it.
func (j *job) run(ctx context.Context) (*Got, error) {
	if err := j.checkArchive(); err != nil {
		return nil, err
	}
	var found *providerstore.Package
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

// proveBeside runs get while the source proves the package and [Getter.Accept] decides about the
// proof. If the package is not proven, the context of get is cancelled.
func (j *job) proveBeside(ctx context.Context, get func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		if j.auth, err = j.pkg.Authenticate(ctx); err == nil {
			err = j.accept(j.auth)
		}
		if err == nil {
			close(j.proven)
		}
		return err
	})
	group.Go(func() error { return get(ctx) })
	return group.Wait()
}

// awaitProof waits until the source has proven the package. It must be called before the package
// is unpacked.
func (j *job) awaitProof(ctx context.Context) error {
	select {
	case <-j.proven:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fromDir returns the package in a directory of the source.
func (j *job) fromDir(ctx context.Context, dir string) (*providerstore.Package, error) {
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := j.Store.Foreign(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.pkg.Location(), err)
	}
	return found, j.checkContent(found.H1)
}

// fromArchive returns the package of an archive, from the store or by downloading it. Only one
// process at a time downloads an archive.
func (j *job) fromArchive(ctx context.Context) (*providerstore.Package, error) {
	if found, err := j.stored(ctx); found != nil || err != nil {
		return found, err
	}
	unlock, err := j.Store.LockArchive(ctx, j.archive, func() { j.tell(j.event(Waiting)) })
	if err != nil {
		return nil, err
	}
	defer unlock()
	if found, err := j.stored(ctx); found != nil || err != nil {
		return found, err
	}
	file, err := j.download(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // otherwise the store removes it
	if j.pkg.Archive() == "" {                                               // its hash is known only now
		if found, err := j.stored(ctx); found != nil || err != nil {
			return found, err
		}
	}
	if err := j.awaitProof(ctx); err != nil {
		return nil, err
	}
	return j.unpack(ctx, file)
}

// stored looks for the archive's content in the store.
func (j *job) stored(ctx context.Context) (*providerstore.Package, error) {
	if j.archive == "" {
		return nil, nil
	}
	found, err := j.find(ctx, j.want, []hashing.Hash{j.archive})
	if found == nil || err != nil {
		return nil, err
	}
	return found, j.checkContent(found.H1)
}

// download downloads the archive to a staging file and returns it, open for reading.
func (j *job) download(ctx context.Context) (_ *os.File, err error) {
	done, err := j.slot(ctx, transfer)
	if err != nil {
		return nil, err
	}
	defer done()
	name, err := j.Store.Stage()
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = errors.Join(file.Close(), os.Remove(name)) // otherwise the store removes it
		}
	}()
	err = j.pkg.Download(ctx, file, func(done, total int64) {
		e := j.event(Downloading)
		e.Done, e.Total = done, total
		j.tell(e)
	})
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

// archiveHash returns the zh of a file.
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

// unpack unpacks an archive and publishes the package in the store unless the lock refuses it.
func (j *job) unpack(ctx context.Context, file *os.File) (*providerstore.Package, error) {
	done, err := j.slot(ctx, unpacking)
	if err != nil {
		return nil, err
	}
	defer done()
	j.tell(j.event(Unpacking))
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
	if err := j.checkContent(h1); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	j.Store.RecordArchive(j.archive, h1)
	j.warnings = archive.Warnings()
	return j.Store.Publish(ctx, dir, h1)
}

func (j *job) event(kind EventKind) Event {
	return Event{Want: j.want, Kind: kind, Location: j.pkg.Location(), Total: -1, Stored: j.offered}
}
