package installer_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// repositories are checked-out repositories with root modules, and what these ask servers for.
type repositories struct {
	dir   string
	roots []string // root modules, sorted
	hosts []string // of registries, sorted
	// providers and modules have the versions and constraints by "NAMESPACE/TYPE" and by
	// "NAMESPACE/NAME/SYSTEM".
	providers, modules map[string][]string
	// git has the refs of git repositories by "HOST/PATH.git", and urls their addresses.
	git  map[string]map[string]bool
	urls map[string]string // "HOST/PATH.git" by URL
	// subdirs are directories in packages, by the keys of modules and git.
	subdirs map[string]map[string]bool
	// called has the keys of the packages of calls, by the calls' names. inside has the
	// directories to which local paths through .terraform/modules lead, by the same names.
	called, inside map[string]map[string]bool
}

func put(sets map[string]map[string]bool, name, element string) {
	if sets[name] == nil {
		sets[name] = map[string]bool{}
	}
	sets[name][element] = true
}

func newRepositories(dir string) *repositories {
	return &repositories{
		dir: dir, hosts: []string{string(addrs.DefaultRegistryHost), string(addrs.TerraformRegistryHost)},
		providers: map[string][]string{}, modules: map[string][]string{},
		git: map[string]map[string]bool{}, urls: map[string]string{}, subdirs: map[string]map[string]bool{},
		called: map[string]map[string]bool{}, inside: map[string]map[string]bool{},
	}
}

// isRepositories reports whether a directory has checked-out repositories, and not cases that are
// laid out like txtar archives.
func isRepositories(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return filepath.Ext(entry.Name()) == ".txtar" || isCaseDir(filepath.Join(dir, entry.Name()))
	})
}

// isCaseDir reports whether a directory has config/ and nothing that a case does not have.
func isCaseDir(dir string) bool {
	parts := []string{"config", "registry", "git", "archives", "oci", "providers", "files", "gitconfig"}
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == "config" }) &&
		!slices.ContainsFunc(entries, func(entry fs.DirEntry) bool { return !slices.Contains(parts, entry.Name()) })
}

// readRepositories reads what all configurations and locks below a directory ask for. What cannot be read is
// left out: the server makes up providers that were not announced to it.
func readRepositories(ctx context.Context, dir string) (*repositories, error) {
	r := newRepositories(dir)
	reader, err := installer.DefaultConfigReader(installer.Project{Dir: dir})
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".terraform" || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir():
			module, _ := reader.ReadModule(ctx, config.Dir{Dir: name, Display: ".", Providers: true})
			for _, c := range module.Calls {
				r.addModule(c)
			}
			for _, p := range module.Providers {
				r.addProvider(p.Provider, p.Constraint)
			}
		case entry.Type().IsRegular() && entry.Name() == ".terraform.lock.hcl":
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for _, block := range lockBlock.FindAllSubmatch(text, -1) {
				address, err := addrs.ParseProviderSource(string(block[1]))
				if version := lockVersion.FindSubmatch(block[0]); err == nil && version != nil {
					r.addProvider(address, string(version[1]))
				}
			}
		}
		return nil
	})
	for name, subdirs := range r.inside {
		for key := range r.called[name] {
			for subdir := range subdirs {
				put(r.subdirs, key, subdir)
			}
		}
	}
	for _, list := range []map[string][]string{r.providers, r.modules} {
		for name, wanted := range list {
			slices.Sort(wanted)
			list[name] = slices.Compact(wanted)
		}
	}
	slices.Sort(r.hosts)
	r.hosts = slices.Compact(r.hosts)
	return r, err
}

func isConfiguration(name string) bool {
	return strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tofu")
}

func (r *repositories) addProvider(address addrs.Provider, wanted string) {
	r.hosts = append(r.hosts, string(address.Hostname))
	name := address.Namespace + "/" + address.Type
	r.providers[name] = append(r.providers[name], wanted)
}

var commitRef = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (r *repositories) addModule(call config.Call) {
	parsed, err := addrs.ParseModuleSource(call.Source)
	if err != nil {
		return
	}
	key, subdir := "", ""
	switch at := parsed.(type) {
	case addrs.ModuleSourceRegistry:
		key, subdir = at.Package.Namespace+"/"+at.Package.Name+"/"+at.Package.TargetSystem, at.Subdir
		r.hosts = append(r.hosts, string(at.Package.Host))
		version := ""
		if call.Version != nil {
			version = *call.Version
		}
		r.modules[key] = append(r.modules[key], version)
	case addrs.ModuleSourceRemote:
		location, err := at.Package.Location()
		address := location.URL()
		if err != nil || at.Package.Getter() != "git" {
			return
		}
		key, subdir = gitName(address.Host, address.Path), at.Subdir
		ref := address.Query().Get("ref")
		put(r.git, key, madeUpTag(ref))
		address.RawQuery = ""
		r.urls[strings.TrimPrefix(address.String(), "git::")] = key
	case addrs.ModuleSourceLocal:
		if rest, ok := strings.CutPrefix(string(at), "./.terraform/modules/"); ok {
			name, subdir, _ := strings.Cut(rest, "/")
			put(r.inside, name, subdir)
		}
		return
	default:
		return
	}
	put(r.subdirs, key, subdir)
	put(r.called, call.Name, key)
}

func gitName(host, at string) string {
	return path.Join(host, strings.TrimSuffix(at, ".git")) + ".git"
}

// madeUpTag returns the tag that stands for a ref. Commits get tags of their own; see
// withMadeUpCommits.
func madeUpTag(ref string) string {
	switch {
	case ref == "" || ref == "main":
		return "_HEAD"
	case commitRef.MatchString(ref):
		return "commit-" + ref
	}
	return ref
}

// content returns the files of a package: those of its repository, if it is one of r, else empty
// modules in the directories that are called.
func (r *repositories) content(key, owner, name string) fs.FS {
	const maxFiles = 1500 // packages are packed again for each request
	dir := filepath.Join(r.dir, owner+"+"+name)
	files := fstest.MapFS{}
	_ = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && isConfiguration(name) && len(files) <= maxFiles {
			if text, err := os.ReadFile(name); err == nil {
				files[filepath.ToSlash(strings.TrimPrefix(name, dir+string(filepath.Separator)))] = &fstest.MapFile{Data: withTagsOfCommits(withoutProviderVersions(withoutRequiredVersion(text)))}
			}
		}
		return nil // files that cannot be read are missing for both tools
	})
	if len(files) > maxFiles {
		files = fstest.MapFS{}
	}
	for _, subdir := range slices.Sorted(maps.Keys(r.subdirs[key])) {
		at := path.Join(subdir, "main.tf")
		dir := path.Dir(at) + "/"
		if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return subdir == "" || strings.HasPrefix(name, dir) }) {
			files[at] = &fstest.MapFile{}
		}
	}
	files["README.md"] = &fstest.MapFile{Data: []byte(key)}
	return files
}

// world returns a world with everything that the repositories ask for.
func (r *repositories) world(t *testing.T) *modtest.World {
	t.Helper()
	world := modtest.NewWith(t, fstest.MapFS{}, modtest.Options{MadeUp: true, Archives: true})
	for name, wanted := range r.providers {
		testenv.Must(t, world.MakeUpProvider(name, wanted...))
	}
	for key, wanted := range r.modules {
		part := strings.Split(key, "/")
		testenv.Must(t, world.MakeUpModule(key, r.content(key, part[0], "terraform-"+part[2]+"-"+part[1]), wanted...))
	}
	for key, refs := range r.git {
		owner, name := path.Split(strings.TrimSuffix(key, ".git"))
		files := r.content(key, path.Base(owner), name)
		for ref := range refs {
			// A ref that is no name for a tag is missing for both tools.
			_ = world.MakeUpRepository(key, files, ref)
		}
	}
	return world
}

func (r *repositories) gitConfig(world *modtest.World) string {
	var text strings.Builder
	for url, key := range r.urls {
		fmt.Fprintf(&text, "[url %q]\n\tinsteadOf = %q\n", world.URL()+"/git/"+key, url)
	}
	return text.String()
}

var localSource = regexp.MustCompile(`(?m)^\s*"?source"?\s*[=:]\s*"(\.\.?(?:/[^"\n]*)?)"`)

// copyRoot copies a root module and the local modules that it calls to the same place below
// another directory. Links to files become files.
func (r *repositories) copyRoot(world *modtest.World, root, to string) error {
	var copyDir func(dir string) error
	done := map[string]bool{}
	copyDir = func(dir string) error {
		below, err := filepath.Rel(r.dir, dir)
		if err != nil || done[dir] || strings.HasPrefix(below, "..") {
			return err
		}
		done[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil // the module is missing for both tools
		}
		if err := os.MkdirAll(filepath.Join(to, below), 0o755); err != nil {
			return err
		}
		for _, entry := range entries {
			name := filepath.Join(dir, entry.Name())
			info, err := os.Stat(name)
			if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<20 {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if isConfiguration(name) || strings.HasSuffix(name, ".tf.json") {
				text = withMadeUpCommits(world, withoutRequiredVersion(text))
				for _, match := range localSource.FindAllSubmatch(text, -1) {
					if err := copyDir(filepath.Join(dir, filepath.FromSlash(string(match[1])))); err != nil {
						return err
					}
				}
			}
			if entry.Name() == ".terraform.lock.hcl" {
				text = withMadeUpHashes(world, text, len(below)%2 == 0)
			}
			if err := os.WriteFile(filepath.Join(to, below, entry.Name()), text, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	return copyDir(root)
}

func (r *repositories) rootsOf(ctx context.Context, find func(ctx context.Context, dir string) ([]string, error)) error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		found, err := find(ctx, filepath.Join(r.dir, entry.Name()))
		if err != nil {
			return err
		}
		r.roots = append(r.roots, found...)
	}
	return nil
}
