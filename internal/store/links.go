package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
)

// InstallRecord is what the store records about a project's directory of providers: which packages
// the runs of this user have installed there. It is a sealed file in the store, so neither a
// project nor a restored cache can make it up.
type InstallRecord struct {
	// Root is the absolute path of the root module, for messages. Dir is the absolute path of the
	// directory of providers, without links.
	Root, Dir string
	// Hashes has the hashes of the packages that were installed at each path, the last one at the
	// end. A path can get several packages: locks on different branches of a repository can have
	// different packages of one version.
	Hashes map[string][]hashing.Hash
	// Last are the paths that the last run needed, sorted.
	Last []string
	// Stores are the paths of the directory of packages that links were made with. A cache can be
	// reached by several paths.
	Stores []string
}

// projectsName is the directory of the records of installations.
const projectsName = "project"

const (
	installPurpose = "provider placements"
	// maxPathHashes is the number of packages that are recorded for a path.
	maxPathHashes = 8
	// maxStores is the number of paths of the store that are recorded for a project.
	maxStores = 4
	// maxPaths is the number of paths that are recorded for a project. Stock tools never remove old
	// versions of providers.
	maxPaths = 2000
	// maxProjects is the number of projects that are recorded. Those that have not been installed
	// for the longest time are forgotten.
	maxProjects = 10_000
)

// Has reports whether a run of this user has installed a package with this hash at a path.
func (r *InstallRecord) Has(at string, h1 hashing.Hash) bool {
	return h1 != "" && slices.Contains(r.Hashes[at], h1)
}

// HasLink reports whether a link at a path with this target is one that a run of this user has
// made, to a package that it has installed there.
func (r *InstallRecord) HasLink(at, target string) bool {
	return r.Has(at, hashOf(filepath.Base(target))) && slices.Contains(r.Stores, filepath.Dir(target))
}

// installRecord identifies the record of a directory of providers, whose path must not contain links.
func (s *Providers) installRecord(dir string) record {
	return record{dir: projectsName, name: s.key.Name(installPurpose, dir), purpose: installPurpose, step: "provider.project"}
}

// InstallRecord returns what this user's runs have installed in the directory. It is empty if
// nothing is known.
func (d *ProviderDir) InstallRecord() *InstallRecord {
	return cmp.Or(d.readInstallRecord(), &InstallRecord{})
}

// readInstallRecord returns the record of the directory, or nil if no installation has recorded one.
func (d *ProviderDir) readInstallRecord() *InstallRecord {
	dir, err := filepath.EvalSymlinks(d.path)
	if err != nil || d.store.dir == "" {
		return nil
	}
	var r InstallRecord
	if d.store.readRecord(d.store.installRecord(dir), &r) != nil || r.Dir != dir {
		return nil
	}
	return &r
}

// RecordInstall records the packages that a run is about to install in the directory, by their
// paths, for a root module, and returns what [ProviderDir.InstallRecord] returned until then. It
// must be called while the packages are in use, so that [Clean] never misses a link. It records
// nothing if the store is not writable, and ignores errors: without the record, cleaning the store
// can remove the packages, and a later run cannot tell who installed them.
func (d *ProviderDir) RecordInstall(root string, packages map[string]hashing.Hash) *InstallRecord {
	before := d.readInstallRecord()
	d.updateInstallRecord(root, packages, before)
	return cmp.Or(before, &InstallRecord{})
}

// updateInstallRecord writes the record of the packages unless it equals the one before, which may
// be nil.
func (d *ProviderDir) updateInstallRecord(root string, packages map[string]hashing.Hash, before *InstallRecord) {
	dir, err := filepath.EvalSymlinks(d.path)
	if err != nil || !d.store.writable {
		return
	}
	if absolute, err := filepath.Abs(root); err == nil {
		root = absolute
	}
	if before == nil && len(packages) == 0 {
		return
	}
	next := &InstallRecord{Root: root, Dir: dir, Hashes: make(map[string][]hashing.Hash), Last: slices.Sorted(maps.Keys(packages))}
	if before != nil {
		next.Stores = before.Stores
		for at, hashes := range before.Hashes {
			if _, err := d.root.Lstat(filepath.FromSlash(at)); err == nil && len(next.Hashes) < maxPaths {
				next.Hashes[at] = hashes
			}
		}
	}
	for at, h1 := range packages {
		others := slices.DeleteFunc(slices.Clone(next.Hashes[at]), func(h hashing.Hash) bool { return h == h1 })
		next.Hashes[at] = append(others[max(0, len(others)+1-maxPathHashes):], h1)
	}
	if own := filepath.Join(d.store.dir, providerKind.packages); !slices.Contains(next.Stores, own) {
		next.Stores = append(slices.Clone(next.Stores[max(0, len(next.Stores)+1-maxStores):]), own)
	}
	r := d.store.installRecord(dir)
	records := filepath.Join(d.store.dir, projectsName)
	if before.equal(next) {
		markUsed(filepath.Join(records, r.name))
		return
	}
	if before == nil {
		forgetProject(records)
	}
	_ = d.store.writeRecord(r, next)
}

func (r *InstallRecord) equal(other *InstallRecord) bool {
	return r != nil && r.Root == other.Root && r.Dir == other.Dir && slices.Equal(r.Last, other.Last) && slices.Equal(r.Stores, other.Stores) &&
		maps.EqualFunc(r.Hashes, other.Hashes, slices.Equal)
}

// forgetProject removes the oldest record if there is no room for another one.
func forgetProject(records string) {
	entries, err := os.ReadDir(records)
	if err != nil || len(entries) < maxProjects {
		return
	}
	oldest, found := entries[0].Name(), false
	var since int64
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && (!found || info.ModTime().UnixNano() < since) {
			oldest, since, found = entry.Name(), info.ModTime().UnixNano(), true
		}
	}
	_ = atomicfile.RemoveAll(filepath.Join(records, oldest))
}

// LinkingProject is a project of this user that has links to packages in the store.
type LinkingProject struct {
	// Root is the directory of its root module.
	Root string
	// Packages are the names of the packages that it links to, sorted.
	Packages []string
}

// Links knows which packages of a store the projects of this user link to. Only the paths that
// this user's runs have recorded are read, and no content of packages.
type Links struct {
	store *Providers
	known map[string]knownProject // by the names of records
}

// knownProject is what was found for a record, and the state of its file at that time.
type knownProject struct {
	info    fs.FileInfo
	project *LinkingProject // nil if nothing links to the store
	// foreign says that this user has not written the record.
	foreign bool
}

// Links returns the links to the packages of the store. ctx bounds the search.
func (s *Providers) Links(ctx context.Context) (*Links, error) {
	l := &Links{store: s, known: make(map[string]knownProject)}
	return l, l.refresh(ctx)
}

// refresh reads the links of the projects whose records are new or have changed.
func (l *Links) refresh(ctx context.Context) error {
	if l.store.dir == "" {
		return nil
	}
	dir := filepath.Join(l.store.dir, projectsName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no run of this version has installed anything
	}
	if err != nil {
		return err
	}
	records, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer records.Close()
	if len(entries) > 2*maxProjects { // no program of ours writes so many
		entries = entries[:2*maxProjects]
	}
	for _, entry := range entries {
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
			found.project = linksOf(r)
		} else {
			found.foreign = true
		}
		l.known[entry.Name()] = found
	}
	return nil
}

// linksOf returns the links of a project, or nil if it is gone or has none.
func linksOf(r InstallRecord) *LinkingProject {
	root, err := pathsafe.OpenRoot(r.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	p := &LinkingProject{Root: r.Root}
	for at := range r.Hashes {
		target, err := root.Readlink(filepath.FromSlash(at))
		if name := filepath.Base(target); err == nil && hashOf(name) != "" && slices.Contains(r.Stores, filepath.Dir(target)) {
			p.Packages = append(p.Packages, name)
		}
	}
	if p.Packages == nil {
		return nil
	}
	slices.Sort(p.Packages)
	p.Packages = slices.Compact(p.Packages)
	return p
}

// Projects returns the projects with links, sorted by their directories.
func (l *Links) Projects() []LinkingProject {
	var projects []LinkingProject
	for _, found := range l.known {
		if found.project != nil {
			projects = append(projects, *found.project)
		}
	}
	slices.SortFunc(projects, func(a, b LinkingProject) int { return strings.Compare(a.Root, b.Root) })
	return projects
}

// Foreign returns the number of records that were not written by this user. Their projects are
// not known.
func (l *Links) Foreign() int {
	n := 0
	for _, found := range l.known {
		if found.foreign {
			n++
		}
	}
	return n
}

// Has reports whether a project links to a package.
func (l *Links) Has(name string) bool {
	for _, found := range l.known {
		if found.project != nil && slices.Contains(found.project.Packages, name) {
			return true
		}
	}
	return false
}

// RemoveUnlinked is [Providers.Remove] unless a project links to the package. An installation
// records its links while it uses the package. So if no process uses it, all links to it are
// recorded.
func (s *Providers) RemoveUnlinked(ctx context.Context, name string, links *Links) (bool, error) {
	return s.removeIf(name, func() (bool, error) {
		if err := links.refresh(ctx); err != nil {
			return false, err
		}
		return !links.Has(name), nil
	})
}

// foreignAge is the age from which the record of another user is removed. Every installation in
// the project renews it.
const foreignAge = 90 * 24 * time.Hour

// ForgetProjects removes the records of projects that are gone or have no links to the store, and
// those of other users that are old.
func (s *Providers) ForgetProjects(links *Links) error {
	var err error
	for name, found := range links.known {
		if found.project != nil || found.foreign && time.Since(found.info.ModTime()) < foreignAge {
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
