package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/modpkg"
	"github.com/cotterpin/cotter/internal/ocilayout"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/lockfile"
)

// Mirror is a repository of an OCI registry. It is a [cotter.ListedStore].
type Mirror struct {
	content *getmodules.OCIContent
	address string
}

var _ cotter.ListedStore = (*Mirror)(nil)

// Open opens a mirror at oci://HOST/REPOSITORY without sending a request. The
// credentials, limits and retries are those of the fetcher for OCI registries.
func Open(fetcher *getmodules.Fetcher, address string) (*Mirror, error) {
	host, repository, ok := strings.Cut(strings.TrimPrefix(address, "oci://"), "/")
	if !strings.HasPrefix(address, "oci://") || !ok {
		return nil, fmt.Errorf("the address of a mirror is oci://HOST/REPOSITORY, and not %q", addrs.Redact(address))
	}
	content, err := fetcher.OCIContent(host, repository)
	if err != nil {
		return nil, err
	}
	return &Mirror{content, address}, nil
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

// Result is what Push did.
type Result struct {
	// Entries is the number of different entries of locks, and Pushed that of those
	// that the mirror did not have.
	Entries, Pushed int
	// Bytes is the size of the archives that were uploaded.
	Bytes int64
}

// Push stores all packages that the locks of some root modules name in a mirror. What
// the mirror has is neither packed nor uploaded again.
//
// The locks must be complete. dirs, req and onEvent are those of
// [cotter.Installer.LockedPackages], which confirms and fetches the packages. If
// projects fail, what the others have is stored nevertheless; the error joins a
// *[cotter.ProjectError] for each.
func Push(ctx context.Context, in *cotter.Installer, dirs []string, req cotter.Request, onEvent func(dir string, event cotter.Event), to *Mirror) (*Result, error) {
	temporary, err := os.MkdirTemp("", "cotter-mirror-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // the system removes what is left
	p := &pusher{mirror: to, dir: temporary}
	err = in.LockedPackages(ctx, dirs, req, onEvent, p.push)
	return &p.result, err
}

// pusher stores packages in a mirror, each once.
type pusher struct {
	mirror  *Mirror
	dir     string // for archives, while they are uploaded
	entries singleflight.Memo[string, bool]
	layers  singleflight.Memo[hashing.Hash, modpkg.Artifact]
	config  singleflight.Memo[string, bool]

	mu     sync.Mutex
	result Result
}

// push stores a package unless the mirror has its entry.
func (p *pusher) push(ctx context.Context, pkg cotter.LockedPackage) error {
	_, err := p.entries.Do(ctx, modpkg.StatementOf(pkg.Entry).Tag(), func(ctx context.Context) (bool, error) {
		has, err := cotter.StoreHas(ctx, p.mirror, pkg.Entry)
		if err == nil && !has {
			err = p.pushMissing(ctx, pkg)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.result.Entries++
		if err == nil && !has {
			p.result.Pushed++
		}
		return !has, err
	})
	return err
}

// pushMissing stores a package that the mirror does not have: its archive, and then what
// points to it. The tag of its content points to the first artifact that has it.
func (p *pusher) pushMissing(ctx context.Context, pkg cotter.LockedPackage) error {
	t1 := pkg.Tree.T1()
	a, err := p.layers.Do(ctx, t1, func(ctx context.Context) (modpkg.Artifact, error) { return p.pushLayer(ctx, t1, pkg) })
	if err != nil {
		return err
	}
	if _, err := p.config.Do(ctx, "", p.pushConfig); err != nil {
		return err
	}
	a.Statement = modpkg.StatementOf(pkg.Entry)
	text, err := a.Manifest()
	if err != nil {
		return err
	}
	content := modpkg.ContentTag(t1)
	if _, err := p.mirror.Manifest(ctx, content); errors.Is(err, fs.ErrNotExist) {
		if err := p.mirror.content.PushManifest(ctx, content, ocispec.MediaTypeImageManifest, text); err != nil {
			return err
		}
	}
	return p.mirror.content.PushManifest(ctx, a.Statement.Tag(), ocispec.MediaTypeImageManifest, text)
}

// pushLayer packs a package and uploads the archive.
func (p *pusher) pushLayer(ctx context.Context, t1 hashing.Hash, pkg cotter.LockedPackage) (modpkg.Artifact, error) {
	root, err := pkg.Open()
	if err != nil {
		return modpkg.Artifact{}, err
	}
	defer root.Close()
	name := filepath.Join(p.dir, modpkg.ContentTag(t1))
	defer func() { _ = os.Remove(name) }() // Push removes what is left
	a, err := modpkg.WriteLayer(ctx, name, root.FS(), pkg.Tree, modpkg.Statement{})
	if err != nil {
		return a, err
	}
	file, err := os.Open(name)
	if err != nil {
		return a, err
	}
	defer file.Close()
	pushed, err := p.mirror.content.PushBlob(ctx, getmodules.OCIBlob{Digest: a.Layer, Size: a.Size}, file)
	if pushed {
		p.mu.Lock()
		p.result.Bytes += a.Size
		p.mu.Unlock()
	}
	return a, err
}

func (p *pusher) pushConfig(ctx context.Context) (bool, error) {
	config := []byte(modpkg.Config)
	at := ocilayout.Describe(config)
	return p.mirror.content.PushBlob(ctx, getmodules.OCIBlob{Digest: at.Digest, Size: at.Size}, bytes.NewReader(config))
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
