package treeproviders

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// ErrNoComparableHash says that the lock has only hashes of archives of unknown content.
var ErrNoComparableHash = errors.New("the lock has no h1: hash of it for this platform")

type Inspection struct {
	Status packagedir.Status
	H1     hashing.Hash
	// Former is the version that the last run of this user has placed, for [packagedir.Former].
	Former string
	// Err is why the installed files could not be compared.
	Err error
}

func Inspect(ctx context.Context, stored *store.Providers, path string, entries []lockfile.Provider) ([]Inspection, error) {
	dir, err := stored.ViewDir(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // only reading
	earlier := dir.InstallRecord()
	found := make([]Inspection, len(entries))
	errs := inParallel(entries, func(i int, entry lockfile.Provider) error {
		found[i] = inspect(ctx, stored, dir, entry)
		found[i].explain(ctx, dir, earlier, entry)
		return ctx.Err()
	})
	return found, errors.Join(errs...)
}

func inspect(ctx context.Context, stored *store.Providers, dir *store.ProviderDir, entry lockfile.Provider) Inspection {
	state := dir.Inspect(ctx, store.ProviderPath(entry.Address, entry.Version, addrs.CurrentPlatform()), true)
	found := Inspection{Status: packagedir.Changed, H1: state.H1, Err: state.Err}
	switch {
	case errors.Is(state.Err, fs.ErrNotExist):
		found.Status, found.Err = packagedir.Missing, nil
	case state.Err != nil:
	case stored.Matches(state.H1, entry.Hashes) != "":
		found.Status = packagedir.Verified
	case !hasScheme(entry.Hashes, "h1"):
		found.Err = ErrNoComparableHash
	}
	return found
}

// explain sets the status to [packagedir.Former] if another version is still there that the last run of
// this user has placed. For the same version, the lock was edited, or the registry has changed the package.
func (i *Inspection) explain(ctx context.Context, dir *store.ProviderDir, earlier *store.InstallRecord, entry lockfile.Provider) {
	if i.Status != packagedir.Missing && (i.Status != packagedir.Changed || i.Err != nil && !errors.Is(i.Err, ErrNoComparableHash)) {
		return
	}
	for _, at := range earlier.Last {
		address, version, platform := splitPath(at)
		if address != entry.Address.String() || version == entry.Version.String() || platform != addrs.CurrentPlatform().String() {
			continue
		}
		state := dir.Inspect(ctx, at, true)
		if state.Err == nil && earlier.Has(at, state.H1) {
			*i = Inspection{Status: packagedir.Former, H1: state.H1, Former: version}
		}
	}
}
