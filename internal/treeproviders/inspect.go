package treeproviders

import (
	"context"
	"errors"
	"io/fs"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/installed"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// ErrNoComparableHash says that a lock has hashes of a provider's archives alone, and
// that it is not known what is in them.
var ErrNoComparableHash = errors.New("the lock has no h1: hash of it for this platform")

// Inspection is how one installed provider compares with its entry.
type Inspection struct {
	Status installed.Status
	// H1 is the hash of what is installed.
	H1 hashing.Hash
	// Err is why the installed files could not be compared.
	Err error
}

// Inspect compares the packages in a directory of providers with the entries of a lock. If
// there is no such directory, the error wraps fs.ErrNotExist.
func Inspect(ctx context.Context, store *providerstore.Store, path string, entries []lockfile.Provider) ([]Inspection, error) {
	dir, err := store.ViewDir(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // nothing is written
	found := make([]Inspection, len(entries))
	err = sideBySide(entries, func(i int, entry lockfile.Provider) error {
		found[i] = inspect(store, dir, entry)
		return ctx.Err()
	})
	return found, err
}

// inspect hashes one provider.
func inspect(store *providerstore.Store, dir *providerstore.Dir, entry lockfile.Provider) Inspection {
	version, err := versions.Parse(entry.Version)
	if err != nil {
		return Inspection{Status: installed.Missing, Err: err}
	}
	state := dir.Inspect(providerstore.At(entry.Address, version, addrs.CurrentPlatform()), true)
	found := Inspection{Status: installed.Changed, H1: state.H1, Err: state.Err}
	switch {
	case errors.Is(state.Err, fs.ErrNotExist):
		found.Status, found.Err = installed.Missing, nil
	case state.Err != nil:
	case store.Matches(state.H1, entry.Hashes) != "":
		found.Status = installed.Verified
	case !hasScheme(entry.Hashes, "h1"):
		found.Err = ErrNoComparableHash
	}
	return found
}
