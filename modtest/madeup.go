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

// madeUpPlatforms are the platforms of made-up providers. Most real providers have these or more.
var madeUpPlatforms = []string{
	"darwin_amd64", "darwin_arm64", "freebsd_386", "freebsd_amd64", "freebsd_arm", "linux_386",
	"linux_amd64", "linux_arm", "linux_arm64", "windows_386", "windows_amd64", "windows_arm64",
}

// MakeUpProvider makes the provider registry have versions of a provider ("hashicorp/aws") of
// which only the address is known, so that a real configuration can be installed. wanted are
// the versions and constraints that configurations, locks and states have for it, such as
// "~> 5.1, != 5.3.0" and "5.82.1". The registry then lists [MadeUpVersions] of all texts that it
// was given for this provider, beside the versions that the tree has or a test has published.
//
// The packages are small archives for 12 common platforms and this one. They are the same in every run and on
// every machine, and are packed when they are first requested. Hashes in real locks do not match
// them; [World.ProviderHashes] returns those that do. The error is a [*PublishError].
func (w *World) MakeUpProvider(name string, wanted ...string) error {
	if strings.Count(name, "/") != 1 || !fs.ValidPath(name) {
		return publishError(name, strings.Join(wanted, ", "), errNotProvider)
	}
	w.providers.mu.Lock()
	defer w.providers.mu.Unlock()
	w.providers.makeUp(name, wanted)
	return nil
}

// MakeUpModule makes the module registry have versions of a module ("acme/net/aws"), which all
// have these files. The versions are found as by [World.MakeUpProvider]. nil means a module
// without content. The error is a [*PublishError].
func (w *World) MakeUpModule(pkg string, files fs.FS, wanted ...string) error {
	if files == nil {
		files = noContent()
	}
	return publishError(pkg, strings.Join(wanted, ", "), w.registry.makeUp(pkg, files, wanted))
}

// MakeUpRepository makes the git server have a repository ("net.git") with a commit of these files
// for each tag. nil means a module without content. Tags that it has are left as they are. As in
// the tree, the tag "_HEAD" is the last commit of the branch main. The error is a [*PublishError].
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

// makeUp adds made-up versions to those of a module.
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

// makeUpUnknown makes up a module that is not known, if the options say so.
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

// noContent returns the content of a made-up module of which nothing is known.
func noContent() fs.FS { return Txtar("-- main.tf --\n") }

// addLater adds a tag to a repository that may be in use. If the repository has the tag, it stays as
// it is.
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

// makeUpUnknown makes up a provider that is not known, if the options say so. The caller holds
// the lock.
func (r *providerRegistry) makeUpUnknown(name string) {
	if r.releases[name] == nil && r.opts.MadeUp {
		r.makeUp(name, nil)
	}
}

// makeUp adds made-up versions to those of a provider. The caller holds the lock.
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

// madeUpRelease returns a release whose packages are packed when they are needed.
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
			// One file in memory can be read and packed, so there is no error.
			pkg, err := newProviderPackage(path.Base(name), version, platform, files, "")
			if err == nil {
				packages = append(packages, pkg)
			}
		}
		return packages
	})
	return r
}

// madeUpVersion matches the versions in constraints and in other texts.
var madeUpVersion = regexp.MustCompile(`[0-9]+(?:\.[0-9]+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?`)

// MadeUpVersions returns versions, oldest first, for wanted versions and constraints, so that
// each of them can be met. For each version in the texts, these are the version itself, one
// before it and some after it: newer patch, minor and major versions, pre-releases of the next
// ones, and one with build metadata. No two of them differ only in build metadata unless the texts
// have both, because stock tools then choose either. Without any version in the texts, it is as if
// "1.0.0" was wanted.
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

// addMadeUpVersions adds the versions around one that is wanted. The values report whether a
// version must be listed although another one differs only in build metadata.
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
