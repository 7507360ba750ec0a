package modtest

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// registry is the module registry. The git server or the archive server serves the packages.
type registry struct {
	opts     Options
	host     string
	git      *gitServer
	archives *archiveServer

	packages shelf[moduleRelease] // by "NAMESPACE/NAME/SYSTEM"
}

type moduleRelease struct {
	files fs.FS
	// discovered is when the registry claims to have first seen the version, or zero.
	discovered time.Time
}

func newRegistry(fsys fs.FS, opts Options, host string, git *gitServer, archives *archiveServer) (*registry, error) {
	r := &registry{opts: opts, host: host, git: git, archives: archives}
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
	r.packages.put(pkg, version, func(old moduleRelease) moduleRelease { return moduleRelease{files, old.discovered} })
	return nil
}

func packageRepo(pkg string) string { return "registry/" + pkg + ".git" }

// fullVersion accepts canonical versions, so that clients request them exactly as they are listed.
func fullVersion(s string) bool {
	v := "v" + s
	return semver.IsValid(v) && semver.Canonical(v)+semver.Build(v) == v
}

// compareVersions orders versions that differ only in build metadata by their text.
func compareVersions(a, b string) int {
	if c := semver.Compare(a, b); c != 0 {
		return c
	}
	return strings.Compare(a, b)
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
