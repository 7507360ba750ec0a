package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// InstallRecord has the packages that the runs of this user have installed in a project's directory of
// providers. It is a sealed file in the store, which neither a project nor a restored cache can make up.
type InstallRecord struct {
	// Root is the absolute path of the root module, for messages; Dir is that of the directory of
	// providers, without links.
	Root, Dir string
	// Hashes are the installed packages by path, the last one at the end. A path can have several: locks on different branches can
	// have different packages of one version.
	Hashes map[string][]hashing.Hash
	Last   []string
	// Stores are the paths of the directory of packages in links, by several of which a cache can be
	// reached.
	Stores []string
}

const (
	projectsName   = "project"
	installPurpose = "provider placements"
	// maxPathHashes limits the packages that are recorded for a path.
	maxPathHashes = 8
	maxStores     = 4
	// maxPaths limits the paths of a project. Stock tools never remove old versions of providers.
	maxPaths = 2000
	// maxProjects limits the recorded projects. The longest unused ones are forgotten.
	maxProjects = 10_000
)

// Has reports whether this user has installed a package with this hash at a path.
func (r *InstallRecord) Has(at string, h1 hashing.Hash) bool {
	return h1 != "" && slices.Contains(r.Hashes[at], h1)
}

// installRecord gets a path without links.
func (s *Providers) installRecord(dir string) record {
	return record{dir: projectsName, name: s.key.Name(installPurpose, dir), purpose: installPurpose}
}

// InstallRecord is empty if nothing is known.
func (d *ProviderDir) InstallRecord() *InstallRecord {
	var r InstallRecord
	dir, err := filepath.EvalSymlinks(d.path)
	if err != nil || d.store.readRecord(d.store.installRecord(dir), &r) != nil || r.Dir != dir {
		return &InstallRecord{}
	}
	return &r
}

// RecordInstall records the packages that a run is about to install, by their paths, and returns the former
// [ProviderDir.InstallRecord]. It must be called while the packages are in use, so that [Cache.Clean] never
// misses a link. Errors are ignored, and a store that is not writable has no record: then cleaning the
// store can remove the packages, and a later run cannot tell who installed them.
func (d *ProviderDir) RecordInstall(root string, packages map[string]hashing.Hash) *InstallRecord {
	before := d.InstallRecord()
	dir, err := filepath.EvalSymlinks(d.path)
	if err != nil || !d.store.writable || before.Dir == "" && len(packages) == 0 {
		return before
	}
	if absolute, err := filepath.Abs(root); err == nil {
		root = absolute
	}
	next := &InstallRecord{
		Root: root, Dir: dir, Hashes: make(map[string][]hashing.Hash), Last: slices.Sorted(maps.Keys(packages)), Stores: before.Stores,
	}
	for at, hashes := range before.Hashes {
		if _, err := d.root.Lstat(filepath.FromSlash(at)); err == nil && len(next.Hashes) < maxPaths {
			next.Hashes[at] = hashes
		}
	}
	for at, h1 := range packages {
		next.Hashes[at] = withLast(next.Hashes[at], h1, maxPathHashes)
	}
	if own := filepath.Join(d.store.dir, providerKind.packages); !slices.Contains(next.Stores, own) {
		next.Stores = withLast(next.Stores, own, maxStores)
	}
	r, records := d.store.installRecord(dir), filepath.Join(d.store.dir, projectsName)
	if reflect.DeepEqual(before, next) {
		markUsed(filepath.Join(records, r.name))
		return before
	}
	if before.Dir == "" {
		forgetProject(records)
	}
	_ = d.store.writeRecord(r, next)
	return before
}

// withLast returns at most most elements, of which last is the last and occurs once.
func withLast[T comparable](list []T, last T, most int) []T {
	others := slices.DeleteFunc(slices.Clone(list), func(e T) bool { return e == last })
	return append(others[max(0, len(others)+1-most):], last)
}

// forgetProject removes the oldest record if there is no room for another.
func forgetProject(records string) {
	entries, err := os.ReadDir(records)
	if err != nil || len(entries) < maxProjects {
		return
	}
	age := func(e fs.DirEntry) time.Duration {
		info, err := e.Info()
		if err != nil {
			return 0 // it is gone
		}
		return time.Since(info.ModTime())
	}
	oldest := slices.MaxFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(age(a), age(b)) })
	_ = atomicfile.RemoveAll(filepath.Join(records, oldest.Name()))
}

// Links knows which packages the projects of this user link to, by the recorded paths alone. A project that
// was moved or copied since its last installation is not known.
type Links struct {
	store *Providers
	known map[string]knownProject // by the names of records
}

// knownProject has what was found for a record, and the state of its file then.
type knownProject struct {
	root     string   // the directory of its root module
	packages []string // nil if nothing links to the store
	info     fs.FileInfo
	foreign  bool // another user's, of which nothing is known
}

func (s *Providers) Links(ctx context.Context) (*Links, error) {
	l := &Links{store: s, known: make(map[string]knownProject)}
	return l, l.refresh(ctx)
}

func (l *Links) refresh(ctx context.Context) error {
	if l.store.dir == "" {
		return nil
	}
	dir := filepath.Join(l.store.dir, projectsName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was installed
	}
	if err != nil {
		return err
	}
	records, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer records.Close()
	for _, entry := range entries[:min(len(entries), 2*maxProjects)] { // no program of ours writes more
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		last, ok := l.known[entry.Name()]
		if ok && os.SameFile(last.info, info) && last.info.ModTime().Equal(info.ModTime()) && last.info.Size() == info.Size() {
			continue
		}
		found := knownProject{info: info}
		var r InstallRecord
		err = readSealed(records, l.store.key, entry.Name(), installPurpose, &r)
		if err == nil && l.store.installRecord(r.Dir).name == entry.Name() {
			found.root, found.packages = r.Root, r.links()
		} else {
			found.foreign = true
		}
		l.known[entry.Name()] = found
	}
	return nil
}

// links are sorted; there are none if the project is gone.
func (r *InstallRecord) links() (packages []string) {
	root, err := pathsafe.OpenRoot(r.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	for at := range r.Hashes {
		target, err := root.Readlink(filepath.FromSlash(at))
		if name := filepath.Base(target); err == nil && hashOf(name) != "" && slices.Contains(r.Stores, filepath.Dir(target)) {
			packages = append(packages, name)
		}
	}
	slices.Sort(packages)
	return slices.Compact(packages)
}

func (l *Links) has(e Entry) bool {
	for _, found := range l.known {
		if slices.Contains(found.packages, e.Name) {
			return true
		}
	}
	return false
}

// RemoveUnlinked is [Providers.Remove] unless a project links to the package. Installations record links
// while they use a package, so all links to one that no process uses are recorded.
func (s *Providers) RemoveUnlinked(ctx context.Context, name string, links *Links) (bool, error) {
	if links.has(Entry{Name: name}) {
		return false, nil // without waiting for those that use it
	}
	return s.removeIf(name, func() (bool, error) {
		if err := links.refresh(ctx); err != nil {
			return false, err
		}
		return !links.has(Entry{Name: name}), nil
	})
}

// foreignAge is when another user's record is removed. Every installation renews it.
const foreignAge = 90 * 24 * time.Hour

// ForgetProjects removes the records of projects that are gone or have no links, and old ones of other
// users.
func (s *Providers) ForgetProjects(links *Links) error {
	var err error
	for name, found := range links.known {
		if found.packages != nil || found.foreign && time.Since(found.info.ModTime()) < foreignAge {
			continue
		}
		file := filepath.Join(s.dir, projectsName, name)
		if info, statErr := os.Lstat(file); statErr != nil || !os.SameFile(info, found.info) {
			continue // another process has written it again
		}
		err = errors.Join(err, s.removeRecord(file))
	}
	return err
}
