package providerstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/pathsafe"
	"github.com/cotterpin/cotter/internal/step"
)

// LinkingProject is a project of this user that has links to packages in the store.
type LinkingProject struct {
	// Root is the directory of its root module.
	Root string
	// Packages are the names of the packages that it links to, sorted.
	Packages []string
}

// Links knows which packages of a store the projects of this user link to. Only the places that
// this user's runs have recorded are looked at, and nothing of their content is read.
type Links struct {
	store  *Store
	looked map[string]lookedAt // by the names of records
}

// lookedAt is what was found for a record, and the state of its file at that time.
type lookedAt struct {
	info    fs.FileInfo
	project *LinkingProject // nil if nothing links to the store
	// foreign says that this user has not written the record.
	foreign bool
}

// Links returns the links to the packages of the store. ctx bounds the search.
func (s *Store) Links(ctx context.Context) (*Links, error) {
	l := &Links{store: s, looked: make(map[string]lookedAt)}
	return l, l.refresh(ctx)
}

// refresh looks at the projects whose records are new or have changed.
func (l *Links) refresh(ctx context.Context) error {
	if l.store.dir == "" {
		return nil
	}
	dir := filepath.Join(l.store.dir, projectsName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no run of this version has placed anything
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
		last, ok := l.looked[entry.Name()]
		if ok && os.SameFile(last.info, info) && last.info.ModTime().Equal(info.ModTime()) && last.info.Size() == info.Size() {
			continue
		}
		found := lookedAt{info: info}
		if record := l.store.readPlaced(records, entry.Name()); record != nil {
			found.project = l.look(record)
		} else {
			found.foreign = true
		}
		l.looked[entry.Name()] = found
	}
	return nil
}

// look returns the links of a project, or nil if it is gone or has none.
func (l *Links) look(record *Placed) *LinkingProject {
	root, err := pathsafe.OpenRoot(record.Dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	p := &LinkingProject{Root: record.Root}
	for at := range record.Hashes {
		target, err := root.Readlink(filepath.FromSlash(at))
		if name := filepath.Base(target); err == nil && hashOf(name) != "" && slices.Contains(record.Stores, filepath.Dir(target)) {
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
	for _, found := range l.looked {
		if found.project != nil {
			projects = append(projects, *found.project)
		}
	}
	slices.SortFunc(projects, func(a, b LinkingProject) int { return strings.Compare(a.Root, b.Root) })
	return projects
}

// Foreign returns the number of records that were not written by this user. Their projects are
// not looked at.
func (l *Links) Foreign() int {
	n := 0
	for _, found := range l.looked {
		if found.foreign {
			n++
		}
	}
	return n
}

// Has reports whether a project links to a package.
func (l *Links) Has(name string) bool {
	for _, found := range l.looked {
		if found.project != nil && slices.Contains(found.project.Packages, name) {
			return true
		}
	}
	return false
}

// Names returns the names of the packages that projects link to.
func (l *Links) Names() map[string]bool {
	names := make(map[string]bool)
	for _, found := range l.looked {
		if found.project != nil {
			for _, name := range found.project.Packages {
				names[name] = true
			}
		}
	}
	return names
}

// RemoveUnlinked is [Store.Remove] unless a project links to the package. An installation records
// its links while it uses the package. So if no process uses it, all links to it are recorded.
func (s *Store) RemoveUnlinked(ctx context.Context, name string, links *Links) (bool, error) {
	return s.remove(name, func() (bool, error) {
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
func (s *Store) ForgetProjects(links *Links) error {
	var err error
	for name, found := range links.looked {
		if found.project != nil || found.foreign && time.Since(found.info.ModTime()) < foreignAge {
			continue
		}
		file := filepath.Join(s.dir, projectsName, name)
		if info, statErr := os.Lstat(file); statErr != nil || !os.SameFile(info, found.info) {
			continue // another process has written it again
		}
		e := step.Do("provider.forget.remove", func() error { return os.Remove(file) })
		if !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// isAbout reports whether a memo or a proof is about the content of one of the named packages.
// Its seal is not verified: the answer only decides whether the file is kept.
func isAbout(dir, name string, packages map[string]bool) bool {
	root, err := pathsafe.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	sealed, err := atomicfile.Read(root, name, maxMemo)
	_, text, _ := bytes.Cut(sealed, []byte("\n"))
	var h1 hashing.Hash
	if err == nil && json.Unmarshal(text, &h1) != nil {
		var record struct{ H1 hashing.Hash }
		err = json.Unmarshal(text, &record)
		h1 = record.H1
	}
	return err == nil && h1 != "" && packages[fileName(h1)]
}
