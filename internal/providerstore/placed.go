package providerstore

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/dirstore"
)

// Placed is what the store remembers about a project's directory of providers: what the runs of
// this user have placed there. It is a sealed file in the store, so neither a project nor a
// restored cache can make it up.
type Placed struct {
	// Root is the absolute path of the root module, for messages. Dir is the absolute path of the
	// directory of providers, without links.
	Root, Dir string
	// Hashes has the hashes of the packages that were placed at each place, the last one at the
	// end. A place can get several packages: locks on different branches of a repository can have
	// different packages of one version.
	Hashes map[string][]hashing.Hash
	// Last are the places that the last run needed, sorted.
	Last []string
	// Stores are the paths of the directory of packages that links were made with. A cache can be
	// reached by several paths.
	Stores []string
}

const (
	placedPurpose = "provider placements"
	// maxPlacedHashes is the number of packages that are remembered for a place.
	maxPlacedHashes = 8
	// maxStores is the number of paths of the store that are remembered for a project.
	maxStores = 4
	// maxPlaces is the number of places that are remembered for a project. Stock tools never remove
	// old versions of providers.
	maxPlaces = 2000
	// maxProjects is the number of projects that are remembered. Those that have not been installed
	// for the longest time are forgotten.
	maxProjects = 10_000
)

// Has reports whether a run of this user has placed a package with this hash at a place.
func (p *Placed) Has(at string, h1 hashing.Hash) bool {
	return h1 != "" && slices.Contains(p.Hashes[at], h1)
}

// HasLink reports whether a link at a place with this target is one that a run of this user has
// made, to a package that it has placed there.
func (p *Placed) HasLink(at, target string) bool {
	return p.Has(at, hashOf(filepath.Base(target))) && slices.Contains(p.Stores, filepath.Dir(target))
}

// placedName returns the name of the file with the record of a directory.
func (s *Store) placedName(dir string) string { return s.key.Name(placedPurpose, dir) }

// readPlaced reads the record in a file of the directory of records. It returns nil if this user
// has not written it, or not under this name.
func (s *Store) readPlaced(records *os.Root, name string) *Placed {
	sealed, err := atomicfile.Read(records, name, maxMemo)
	if err != nil {
		return nil
	}
	text, err := s.key.Open(placedPurpose, sealed)
	if err != nil {
		return nil
	}
	var p Placed
	if json.Unmarshal(text, &p) != nil || s.placedName(p.Dir) != name {
		return nil
	}
	return &p
}

// Remembered returns what this user's runs have placed in the directory. It is empty if nothing is
// known.
func (d *Dir) Remembered() *Placed {
	return cmp.Or(d.readPlaced(), &Placed{})
}

func (d *Dir) readPlaced() *Placed {
	dir, err := filepath.EvalSymlinks(d.path)
	if err != nil || d.store.dir == "" {
		return nil
	}
	records, err := os.OpenRoot(filepath.Join(d.store.dir, projectsName))
	if err != nil {
		return nil
	}
	defer records.Close()
	return d.store.readPlaced(records, d.store.placedName(dir))
}

// Remember records the packages that a run is about to place in the directory, for a root module,
// and returns what [Dir.Remembered] returned until then. It must be called while the packages are in
// use, so that [Store.Clean] never misses a link. It records nothing if the store is not writable,
// and ignores errors: without the record, cleaning the store can remove the packages, and a later
// run cannot tell who placed them.
func (d *Dir) Remember(root string, packages map[string]hashing.Hash) *Placed {
	before := d.readPlaced()
	d.record(root, packages, before)
	return cmp.Or(before, &Placed{})
}

// record writes the record of the packages unless it equals the one before, which may be nil.
func (d *Dir) record(root string, packages map[string]hashing.Hash, before *Placed) {
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
	next := &Placed{Root: root, Dir: dir, Hashes: make(map[string][]hashing.Hash), Last: slices.Sorted(maps.Keys(packages))}
	if before != nil {
		next.Stores = before.Stores
		for at, hashes := range before.Hashes {
			if _, err := d.root.Lstat(filepath.FromSlash(at)); err == nil && len(next.Hashes) < maxPlaces {
				next.Hashes[at] = hashes
			}
		}
	}
	for at, h1 := range packages {
		others := slices.DeleteFunc(slices.Clone(next.Hashes[at]), func(h hashing.Hash) bool { return h == h1 })
		next.Hashes[at] = append(others[max(0, len(others)+1-maxPlacedHashes):], h1)
	}
	if own := filepath.Join(d.store.dir, packagesName); !slices.Contains(next.Stores, own) {
		next.Stores = append(slices.Clone(next.Stores[max(0, len(next.Stores)+1-maxStores):]), own)
	}
	records := filepath.Join(d.store.dir, projectsName)
	name := d.store.placedName(dir)
	if before.equal(next) {
		dirstore.MarkUsed(filepath.Join(records, name))
		return
	}
	if before == nil {
		forgetProjects(records)
	}
	d.store.writePlaced(records, name, next)
}

func (p *Placed) equal(other *Placed) bool {
	return p != nil && p.Root == other.Root && p.Dir == other.Dir && slices.Equal(p.Last, other.Last) && slices.Equal(p.Stores, other.Stores) &&
		maps.EqualFunc(p.Hashes, other.Hashes, slices.Equal)
}

func (s *Store) writePlaced(records, name string, p *Placed) {
	text, err := json.Marshal(p)
	sealed := s.key.Seal(placedPurpose, text)
	if err != nil || len(sealed) > maxMemo {
		return
	}
	root, err := os.OpenRoot(records)
	if err != nil {
		return
	}
	defer root.Close()
	options := atomicfile.Options{Disposable: true, Step: "provider.project"}
	if err := atomicfile.Write(root, name, sealed, options); errors.Is(err, atomicfile.ErrIrregular) {
		_ = root.RemoveAll(name)
		_ = atomicfile.Write(root, name, sealed, options)
	}
}

// forgetProjects makes room for one record.
func forgetProjects(records string) {
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
	_ = os.RemoveAll(filepath.Join(records, oldest))
}
