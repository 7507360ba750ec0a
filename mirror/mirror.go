package mirror

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
)

// Mirror is a repository of an OCI registry. It is a [cotter.ListedStore].
//
// Its fields must not be changed while it is in use.
type Mirror struct {
	// Trust says which entries count as confirmed. [Open] sets Trust.Named.
	Trust Trust
	// SignKey signs the entries that are pushed; nil means that they are not signed.
	SignKey ed25519.PrivateKey

	fetcher          *getmodules.Fetcher
	content          *getmodules.OCIContent
	host, repository string
	address          string
}

var _ cotter.ListedStore = (*Mirror)(nil)

// Open opens a mirror at oci://HOST/REPOSITORY without sending a request. The
// credentials, limits and retries are those of the fetcher for OCI registries.
//
// The mirror confirms entries of locks, as one that the user names does. For others set
// its Trust.
func Open(fetcher *getmodules.Fetcher, address string) (*Mirror, error) {
	host, repository, ok := strings.Cut(strings.TrimPrefix(address, "oci://"), "/")
	if !strings.HasPrefix(address, "oci://") || !ok {
		return nil, fmt.Errorf("the address of a mirror is oci://HOST/REPOSITORY, and not %q", addrs.Redact(address))
	}
	content, err := fetcher.OCIContent(host, repository)
	if err != nil {
		return nil, err
	}
	return &Mirror{Trust: Trust{Named: true}, fetcher: fetcher, content: content, host: host, repository: repository, address: address}, nil
}

// Name returns the address, with what it is.
func (m *Mirror) Name() string { return "the mirror " + m.address }

// Address returns the address: oci://HOST/REPOSITORY.
func (m *Mirror) Address() string { return m.address }

// IsLocal returns false.
func (m *Mirror) IsLocal() bool { return false }

// Manifest makes Mirror a [cotter.PackageStore].
func (m *Mirror) Manifest(ctx context.Context, tag string) ([]byte, error) {
	found, err := m.content.Manifest(ctx, tag)
	return found.Text, err
}

// Blob makes Mirror a [cotter.PackageStore].
func (m *Mirror) Blob(ctx context.Context, digest string, size int64, file *os.File) error {
	return m.content.Blob(ctx, getmodules.OCIBlob{Digest: digest, Size: size}, file, nil)
}

// Tags returns all tags of the repository; none if nothing was pushed yet.
func (m *Mirror) Tags(ctx context.Context) ([]string, error) {
	var found []string
	err := m.content.Tags(ctx, "", func(tags []string) error {
		found = append(found, tags...)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return found, err
}

// Entry is what a mirror has for an entry of a lock.
type Entry struct {
	// Dir is the directory of the root module, and Key the key of its entry.
	Dir, Key string
	// Source, Version and Tag are those of a [cotter.StoreEntry].
	Source, Version, Tag string
	// Missing says that the mirror does not have the entry.
	Missing bool
}

// parallelRequests is how many entries Status asks for at once.
const parallelRequests = 16

// Status returns which entries of the locks of some root modules a mirror has, in the
// order of the directories and keys. It reads only the locks and asks only the mirror.
// The locks are those of req, but for its directory; an error about one is a
// *[cotter.ProjectError].
func Status(ctx context.Context, m *Mirror, dirs []string, req cotter.Request) ([]Entry, error) {
	var entries []Entry
	var locked []lockfile.Module
	for _, dir := range dirs {
		req.Dir = dir
		lock, err := cotter.ReadLock(req)
		if err != nil {
			return nil, &cotter.ProjectError{Dir: dir, Err: err}
		}
		for _, entry := range lock.Modules() {
			locked = append(locked, entry)
			entries = append(entries, Entry{
				Dir: dir, Key: entry.Key, Source: entry.Source, Version: entry.Version, Tag: modpkg.StatementOf(entry).Tag(),
			})
		}
	}
	var asked singleflight.Memo[string, bool]
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelRequests)
	for i := range entries {
		e := &entries[i]
		group.Go(func() error {
			has, err := asked.Do(ctx, e.Tag, func(ctx context.Context) (bool, error) { return cotter.StoreHas(ctx, m, locked[i]) })
			e.Missing = err == nil && !has
			return err
		})
	}
	return entries, group.Wait()
}
