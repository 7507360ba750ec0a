package modtest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/semver"
)

// registry is the module registry. The git server or the archive server serves the packages.
type registry struct {
	opts     Options
	host     string
	git      *gitServer
	archives *archiveServer

	mu       sync.Mutex
	packages map[string]map[string]fs.FS // "NAMESPACE/NAME/SYSTEM" -> version -> files
	// discovered is when the registry claims to have first seen versions.
	discovered map[string]time.Time // by "NAMESPACE/NAME/SYSTEM/VERSION"
}

func newRegistry(fsys fs.FS, opts Options, host string, git *gitServer, archives *archiveServer) (*registry, error) {
	r := &registry{opts: opts, host: host, git: git, archives: archives, packages: map[string]map[string]fs.FS{}, discovered: map[string]time.Time{}}
	packages, err := directoriesAt(fsys, "registry", 3)
	if err != nil {
		return nil, err
	}
	for _, pkg := range packages {
		if err := r.load(fsys, pkg); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// directoriesAt returns the directories at a depth below top, relative to it.
func directoriesAt(fsys fs.FS, top string, depth int) ([]string, error) {
	found := []string{""}
	for range depth {
		var below []string
		for _, dir := range found {
			names, err := directories(fsys, path.Join(top, dir))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				below = append(below, path.Join(dir, name))
			}
		}
		found = below
	}
	return found, nil
}

func (r *registry) load(fsys fs.FS, pkg string) error {
	dir := path.Join("registry", pkg)
	names, err := directories(fsys, dir)
	if err != nil {
		return err
	}
	for _, version := range names {
		at := path.Join(dir, version)
		files, err := subtree(fsys, at)
		if err != nil {
			return err
		}
		if err := r.put(pkg, version, files, r.git.add); err != nil {
			return &TreeError{at, err}
		}
	}
	return nil
}

var (
	errNotVersion = errors.New(`not a full semantic version such as "1.2.0"`)
	errNotPackage = errors.New("not of the form NAMESPACE/NAME/SYSTEM")
)

// put adds a version or replaces its files. tag creates the tag of a package in git.
func (r *registry) put(pkg, version string, files fs.FS, tag func(repo, tag string, files fs.FS) error) error {
	if !fullVersion(version) {
		return errNotVersion
	}
	if strings.Count(pkg, "/") != 2 || !fs.ValidPath(pkg) {
		return errNotPackage
	}
	if r.opts.gitPackages() {
		if err := tag(packageRepo(pkg), "v"+version, files); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.packages[pkg] == nil {
		r.packages[pkg] = map[string]fs.FS{}
	}
	r.packages[pkg][version] = files
	return nil
}

func (r *registry) discover(pkg, version string, at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.packages[pkg][version]
	if ok {
		r.discovered[pkg+"/"+version] = at
	}
	return ok
}

// discoveredAt may be empty.
func (r *registry) discoveredAt(pkg, version string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := r.discovered[pkg+"/"+version]; ok {
		return at.UTC().Format(time.RFC3339)
	}
	return ""
}

// withdraw reports whether the version existed.
func (r *registry) withdraw(pkg, version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.packages[pkg][version]
	delete(r.packages[pkg], version)
	return ok
}

func packageRepo(pkg string) string { return "registry/" + pkg + ".git" }

// fullVersion accepts canonical versions, so that clients request them exactly as they are listed.
func fullVersion(s string) bool {
	v := "v" + s
	return semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

// versions returns the versions, oldest first, and whether the registry knows pkg.
func (r *registry) versions(pkg string) ([]string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.packages[pkg]
	return slices.SortedFunc(maps.Keys(known), func(a, b string) int {
		return compareVersions("v"+a, "v"+b)
	}), ok
}

// compareVersions orders versions that differ only in build metadata by their text.
func compareVersions(a, b string) int {
	if c := semver.Compare(a, b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func (r *registry) files(pkg, version string) (fs.FS, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	files, ok := r.packages[pkg][version]
	return files, ok
}

func (r *registry) location(pkg, version string) (string, error) {
	if !r.opts.gitPackages() {
		return packagePath(pkg, version), nil
	}
	commit, err := r.git.commit(packageRepo(pkg), "v"+version)
	return fmt.Sprintf("git::https://%s/git/%s?ref=%s", r.host, packageRepo(pkg), commit), err
}

// packagePath returns a URL reference outside of the registry's own paths, so that clients send no token
// unless they are told to.
func packagePath(pkg, version string) string {
	return "/packages/" + pkg + "/" + version + tarGz
}

func (r *registry) authorized(req *http.Request) bool {
	return r.opts.Token == "" || req.Header.Get("Authorization") == "Bearer "+r.opts.Token
}
