package cotter_test

import (
	"bytes"
	"context"
	"encoding/hex"
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

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
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

// readRepositories reads what all configurations, locks and module calls below a directory ask for.
func readRepositories(dir string) (*repositories, error) {
	r := &repositories{
		dir: dir, hosts: []string{string(addrs.DefaultRegistryHost), string(addrs.TerraformRegistryHost)},
		providers: map[string][]string{}, modules: map[string][]string{},
		git: map[string]map[string]bool{}, urls: map[string]string{}, subdirs: map[string]map[string]bool{},
	}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".terraform" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		switch {
		case isConfiguration(name), entry.Name() == ".terraform.lock.hcl":
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			r.read(entry.Name(), text)
		}
		return nil
	})
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

// read adds what one file asks for. What cannot be read is left out: the server makes up providers
// that nobody announced.
func (r *repositories) read(name string, text []byte) {
	if name == ".terraform.lock.hcl" {
		lock, _ := lockfile.Parse(text, name)
		if lock == nil {
			return
		}
		for _, p := range lock.Providers() {
			r.addProvider(p.Address.String(), p.Version, p.Constraints)
		}
		return
	}
	file, _ := hclsyntax.ParseConfig(text, name, hclInitialPos)
	if file == nil {
		return
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return
	}
	for _, block := range body.Blocks {
		switch block.Type {
		case "terraform":
			for _, below := range block.Body.Blocks {
				if below.Type == "required_providers" {
					r.readRequired(below.Body)
				}
			}
		case "provider":
			if version := literal(block.Body, "version"); version != "" && len(block.Labels) == 1 {
				r.addProvider(block.Labels[0], version)
			}
		case "module":
			r.addModule(literal(block.Body, "source"), literal(block.Body, "version"))
		}
	}
}

func (r *repositories) readRequired(body *hclsyntax.Body) {
	for name, attribute := range body.Attributes {
		source, version := name, literal(body, name)
		if object, ok := attribute.Expr.(*hclsyntax.ObjectConsExpr); ok {
			for _, item := range object.Items {
				switch text := literalOf(item.ValueExpr); literalOf(item.KeyExpr) {
				case "source":
					source = text
				case "version":
					version = text
				}
			}
		}
		r.addProvider(source, version)
	}
}

// literal returns the literal string in an argument, or "".
func literal(body *hclsyntax.Body, name string) string {
	if attribute, ok := body.Attributes[name]; ok {
		return literalOf(attribute.Expr)
	}
	return ""
}

// literalOf returns the value of an expression that is a literal string, or "".
func literalOf(expr hclsyntax.Expression) string {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.IsNull() || !value.IsKnown() || value.Type() != cty.String {
		return ""
	}
	return value.AsString()
}

func (r *repositories) addProvider(source string, wanted ...string) {
	address, err := addrs.ParseProviderSource(source)
	if err != nil {
		return
	}
	r.hosts = append(r.hosts, string(address.Hostname))
	name := address.Namespace + "/" + address.Type
	r.providers[name] = append(r.providers[name], wanted...)
}

var commitRef = regexp.MustCompile(`^[0-9a-f]{40}$`)

func (r *repositories) addModule(source, version string) {
	parsed, err := addrs.ParseModuleSource(source)
	if err != nil {
		return
	}
	key, subdir := "", ""
	switch at := parsed.(type) {
	case addrs.ModuleSourceRegistry:
		key, subdir = at.Package.Namespace+"/"+at.Package.Name+"/"+at.Package.TargetSystem, at.Subdir
		r.hosts = append(r.hosts, string(at.Package.Host))
		r.modules[key] = append(r.modules[key], version)
	case addrs.ModuleSourceRemote:
		address, err := at.Package.URL()
		if err != nil || at.Package.Getter() != "git" {
			return
		}
		key, subdir = gitName(address.Host, address.Path), at.Subdir
		ref := address.Query().Get("ref")
		if r.git[key] == nil {
			r.git[key] = map[string]bool{}
		}
		r.git[key][madeUpTag(ref)] = true
		address.RawQuery = ""
		r.urls[strings.TrimPrefix(address.String(), "git::")] = key
	default:
		return
	}
	if r.subdirs[key] == nil {
		r.subdirs[key] = map[string]bool{}
	}
	r.subdirs[key][subdir] = true
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
				files[filepath.ToSlash(strings.TrimPrefix(name, dir+string(filepath.Separator)))] = &fstest.MapFile{Data: withTagsOfCommits(withoutRequiredVersion(text))}
			}
		}
		return nil // files that cannot be read are missing for both tools
	})
	if len(files) > maxFiles {
		files = fstest.MapFS{}
	}
	for subdir := range r.subdirs[key] {
		at := path.Join(subdir, "main.tf")
		dir := path.Dir(at) + "/"
		if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return subdir == "" || strings.HasPrefix(name, dir) }) {
			files[at] = &fstest.MapFile{}
		}
	}
	files["README.md"] = &fstest.MapFile{Data: []byte(key)}
	return files
}

// world returns a world with everything that the repositories ask for. newer adds versions that
// are newer than all of those.
func (r *repositories) world(t *testing.T, newer bool) *modtest.World {
	t.Helper()
	world := modtest.NewWith(t, fstest.MapFS{}, modtest.Options{MadeUp: true, Archives: true})
	wanted := func(texts []string) []string {
		if newer {
			return append(slices.Clone(texts), modtest.MadeUpVersions(texts...)...)
		}
		return texts
	}
	for name, texts := range r.providers {
		if err := world.MakeUpProvider(name, wanted(texts)...); err != nil {
			t.Fatal(err)
		}
	}
	for key, texts := range r.modules {
		part := strings.Split(key, "/")
		if err := world.MakeUpModule(key, r.content(key, part[0], "terraform-"+part[2]+"-"+part[1]), wanted(texts)...); err != nil {
			t.Fatal(err)
		}
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

// gitConfig returns the text of a git configuration that redirects all repositories to a world.
func (r *repositories) gitConfig(world *modtest.World) string {
	var text strings.Builder
	for url, key := range r.urls {
		fmt.Fprintf(&text, "[url %q]\n\tinsteadOf = %q\n", world.URL()+"/git/"+key, url)
	}
	return text.String()
}

var requiredVersion = regexp.MustCompile(`(?m)^(\s*required_version\s*=\s*)"[^"\n]*"`)

// withoutRequiredVersion makes every version of the stock tools acceptable, since only one of each
// is here.
func withoutRequiredVersion(text []byte) []byte {
	return requiredVersion.ReplaceAll(text, []byte(`$1">= 0.12"`))
}

var gitSource = regexp.MustCompile(`"[^"\n]*[?&]ref=[0-9a-f]{40}[^"\n]*"`)

// withTagsOfCommits replaces commits in module sources by the tags that stand for them.
func withTagsOfCommits(text []byte) []byte {
	return gitSource.ReplaceAllFunc(text, func(quoted []byte) []byte {
		return bytes.Replace(quoted, []byte("ref="), []byte("ref=commit-"), 1)
	})
}

// withMadeUpCommits replaces commits in module sources by commits that the world has.
func withMadeUpCommits(world *modtest.World, text []byte) []byte {
	return gitSource.ReplaceAllFunc(text, func(quoted []byte) []byte {
		parsed, err := addrs.ParseModuleSource(strings.Trim(string(quoted), `"`))
		remote, ok := parsed.(addrs.ModuleSourceRemote)
		if err != nil || !ok {
			return quoted
		}
		address, err := remote.Package.URL()
		if err != nil {
			return quoted
		}
		ref := address.Query().Get("ref")
		commit, err := world.Commit(gitName(address.Host, address.Path), madeUpTag(ref))
		if err != nil {
			return quoted
		}
		return []byte(strings.Replace(string(quoted), ref, commit, 1))
	})
}

var (
	lockBlock   = regexp.MustCompile(`(?m)^provider "([^"]+)" \{[^}]*\}`)
	lockVersion = regexp.MustCompile(`(?m)^\s*version\s*=\s*"([^"]+)"`)
	lockHash    = regexp.MustCompile(`[ \t]*"(h1|zh):[^"\n]*",?[ \t]*\r?\n?`)
)

// withMadeUpHashes replaces the hashes of real packages in a lock by as many of those that the
// world makes up. If an entry has the hash of one platform's package, that is this platform or
// another one, depending on foreign. Everything else in the lock stays as it is.
func withMadeUpHashes(world *modtest.World, text []byte, foreign bool) []byte {
	return lockBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		address, err := addrs.ParseProviderSource(string(lockBlock.FindSubmatch(block)[1]))
		version := lockVersion.FindSubmatch(block)
		if err != nil || version == nil {
			return block
		}
		var h1, zh []string
		for _, platform := range madeUpOrder(foreign && strings.Count(string(block), `"h1:`) == 1) {
			one, two, err := world.ProviderHashes(address.Namespace+"/"+address.Type, string(version[1]), platform)
			if err != nil {
				return block
			}
			h1, zh = append(h1, string(one)), append(zh, string(two))
		}
		h1 = h1[:min(len(h1), strings.Count(string(block), `"h1:`))]
		zh = zh[:min(len(zh), strings.Count(string(block), `"zh:`))]
		slices.Sort(h1)
		slices.Sort(zh)
		hashes := slices.Compact(append(h1, zh...))
		return lockHash.ReplaceAllFunc(block, func(line []byte) []byte {
			if len(hashes) == 0 {
				return nil
			}
			old := lockHashText.Find(line)
			line = []byte(strings.Replace(string(line), string(old), hashes[0], 1))
			hashes = hashes[1:]
			return line
		})
	})
}

var lockHashText = regexp.MustCompile(`(h1|zh):[^"]*`)

// madeUpOrder returns the platforms in the order in which they get into locks.
func madeUpOrder(foreign bool) []string {
	others := []string{
		"darwin_arm64", "darwin_amd64", "linux_arm64", "windows_amd64", "freebsd_386", "freebsd_amd64",
		"freebsd_arm", "linux_386", "linux_arm", "windows_386", "windows_arm64",
	}
	if foreign {
		return append(others, "linux_amd64")
	}
	return append([]string{"linux_amd64"}, others...)
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
				text = withMadeUpHashes(world, text, hex.EncodeToString([]byte(below))[0]%2 == 0)
			}
			if err := os.WriteFile(filepath.Join(to, below, entry.Name()), text, 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	return copyDir(root)
}

// rootsOf finds the root modules of all repositories.
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
