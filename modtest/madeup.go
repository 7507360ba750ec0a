package modtest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
)

// madeUpPlatforms are those of most real providers.
var madeUpPlatforms = []string{
	"darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64", "freebsd_arm", "linux_386",
	"linux_amd64", "linux_arm", "linux_arm64", "windows_386", "windows_amd64", "windows_arm64",
}

// MakeUpProvider makes the registry have versions of a provider ("hashicorp/aws") of which only the address
// is known, so that a real configuration can be installed. wanted are versions and constraints of
// configurations, locks and states, such as "~> 5.1, != 5.3.0"; the registry lists [MadeUpVersions] of all
// that it was given, beside other versions.
//
// The packages are small archives for 12 common platforms and this one, the same in every run, packed on
// request. Real locks do not match them; [World.ProviderHashes] returns their hashes. The error is a
// [*PublishError].
func (w *World) MakeUpProvider(name string, wanted ...string) error {
	if strings.Count(name, "/") != 1 || !fs.ValidPath(name) {
		return publishError(name, strings.Join(wanted, ", "), errNotProvider)
	}
	w.providers.mu.Lock()
	defer w.providers.mu.Unlock()
	w.providers.makeUp(name, wanted)
	return nil
}

// MakeUpModule is [World.MakeUpProvider] for a module ("acme/net/aws"), whose versions all have these
// files; nil means no content.
func (w *World) MakeUpModule(pkg string, files fs.FS, wanted ...string) error {
	if files == nil {
		files = noContent()
	}
	return publishError(pkg, strings.Join(wanted, ", "), w.registry.makeUp(pkg, files, wanted))
}

// MakeUpRepository makes the git server have a repository ("net.git") with a commit of these files for each
// tag that it lacks; nil means no content. "_HEAD" is the last commit of the branch main. The error is a
// [*PublishError].
func (w *World) MakeUpRepository(repo string, files fs.FS, tags ...string) error {
	if !isWholeRoot(repo, isRepo) {
		return publishError(repo, "", errBadRepo)
	}
	if files == nil {
		files = noContent()
	}
	for _, tag := range tags {
		if err := w.git.addLater(repo, tag, files); err != nil {
			return publishError(repo, tag, err)
		}
	}
	return nil
}

// makeUp adds to the versions of a module.
func (r *registry) makeUp(pkg string, files fs.FS, wanted []string) error {
	r.making.Lock()
	defer r.making.Unlock()
	r.wanted[pkg] = append(r.wanted[pkg], wanted...)
	for _, version := range MadeUpVersions(r.wanted[pkg]...) {
		if _, ok := r.known(pkg, version); ok {
			continue
		}
		if err := r.put(pkg, version, files, r.git.addLater); err != nil {
			return err
		}
	}
	return nil
}

func (r *registry) makeUpUnknown(pkg string) {
	if !r.opts.MadeUp {
		return
	}
	r.mu.Lock()
	known := r.packages[pkg] != nil
	r.mu.Unlock()
	if !known {
		// A path that is not that of a module stays unknown.
		_ = r.makeUp(pkg, noContent(), nil)
	}
}

func noContent() fs.FS { return Txtar("-- main.tf --\n") }

// addLater leaves a tag that the repository, which may be in use, has.
func (g *gitServer) addLater(repo, tag string, files fs.FS) error {
	if !validTag(tag) {
		return errBadTag
	}
	r := g.open(repo)
	r.mu.Lock()
	_, has := r.trees[tag]
	started := r.commits != nil
	if !has && !started {
		r.trees[tag] = files
	}
	has = has || r.commits[tag] != ""
	r.mu.Unlock()
	if has || !started {
		return nil
	}
	return g.publish(repo, tag, files)
}

// makeUpUnknown needs the lock.
func (r *providerRegistry) makeUpUnknown(name string) {
	if r.releases[name] == nil && r.opts.MadeUp {
		r.makeUp(name, nil)
	}
}

// makeUp adds to the versions of a provider. It needs the lock.
func (r *providerRegistry) makeUp(name string, wanted []string) {
	r.wanted[name] = append(r.wanted[name], wanted...)
	if r.releases[name] == nil {
		r.releases[name] = map[string]*providerRelease{}
	}
	for _, version := range MadeUpVersions(r.wanted[name]...) {
		if _, ok := r.releases[name][version]; !ok {
			r.releases[name][version] = madeUpRelease(name, version)
		}
	}
}

// madeUpRelease packs packages when they are needed.
func madeUpRelease(name, version string) *providerRelease {
	r := &providerRelease{name: name, version: version}
	for _, text := range madeUpPlatforms {
		if platform, err := addrs.ParsePlatform(text); err == nil {
			r.platforms = append(r.platforms, platform)
		}
	}
	if current := addrs.CurrentPlatform(); !slices.Contains(r.platforms, current) {
		r.platforms = append(r.platforms, current)
	}
	r.packages = sync.OnceValue(func() []providerPackage {
		var packages []providerPackage
		for _, platform := range r.platforms {
			program := fmt.Sprintf("terraform-provider-%s_v%s", path.Base(name), version)
			files := Txtar(fmt.Sprintf("-- %s --\n%s %s for %s\n", program, name, version, platform))
			// One file in memory can be read and packed.
			pkg, err := newProviderPackage(path.Base(name), version, platform, files, "")
			if err == nil {
				packages = append(packages, pkg)
			}
		}
		return packages
	})
	return r
}

var madeUpVersion = regexp.MustCompile(`[0-9]+(?:\.[0-9]+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`)

// MadeUpVersions returns versions, oldest first, so that each of the wanted ones can be met: for each
// version in the texts ("1.0.0" without any) itself, one before it, and some after it, with pre-releases
// and build metadata. Two that differ only in build metadata are both in the texts, because stock tools
// choose either.
func MadeUpVersions(wanted ...string) []string {
	found := map[string]bool{}
	for _, text := range wanted {
		for _, version := range madeUpVersion.FindAllString(text, -1) {
			addMadeUpVersions(found, version)
		}
	}
	if len(found) == 0 {
		addMadeUpVersions(found, "1.0.0")
	}
	var versions []string
	for version, listed := range found {
		if _, ok := found[withoutBuild(version)]; listed || !ok {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return compareVersions("v"+a, "v"+b) })
	return versions
}

// addMadeUpVersions adds versions around a wanted one. The values report whether one must be listed
// although another differs only in build metadata.
func addMadeUpVersions(found map[string]bool, version string) {
	core, _, _ := strings.Cut(withoutBuild(version), "-")
	var n [3]int
	for i, part := range strings.Split(core, ".") {
		number, err := strconv.Atoi(part)
		if err != nil || number > 1<<30 {
			return // a number like that is no version of anything
		}
		n[i] = number
	}
	full := fmt.Sprintf("%d.%d.%d%s", n[0], n[1], n[2], version[len(core):])
	if !fullVersion(full) {
		return
	}
	add := func(major, minor, patch int, rest string) {
		if major < 0 || minor < 0 || patch < 0 || major+minor+patch == 0 {
			return
		}
		version := fmt.Sprintf("%d.%d.%d%s", major, minor, patch, rest)
		found[version] = found[version] || !strings.Contains(rest, "+")
	}
	if n != [3]int{} {
		found[full] = true
	}
	if !strings.Contains(version, "+") {
		add(n[0], n[1], n[2], "")
	}
	switch {
	case n[2] > 0:
		add(n[0], n[1], n[2]-1, "")
	case n[1] > 0:
		add(n[0], n[1]-1, 0, "")
		add(n[0], n[1]-1, 7, "")
	default:
		add(n[0]-1, 9, 1, "")
	}
	add(n[0], n[1], n[2]+1, "")
	add(n[0], n[1], n[2]+2, "+build.7")
	add(n[0], n[1], n[2]+3, "-rc.1")
	add(n[0], n[1]+1, 0, "")
	add(n[0], n[1]+1, 10, "")
	add(n[0], n[1]+2, 0, "-beta1")
	add(n[0]+1, 0, 0, "")
	add(n[0]+2, 0, 0, "-alpha.2")
}

func withoutBuild(version string) string {
	before, _, _ := strings.Cut(version, "+")
	return before
}
