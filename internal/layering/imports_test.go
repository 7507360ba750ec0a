package layering_test

import (
	"slices"
	"strings"
	"testing"
)

// layer is a set of packages that do not import each other.
type layer struct {
	name     string
	packages []string
}

// layers are all packages, from the bottom to the top. Outside of its tests, a package may
// import only packages of the layers below its own.
var layers = []layer{
	{"rules for names, paths, patterns, sizes and secrets, the parsers of HCL, and values in text", []string{"internal/process/ctxerr", "internal/text/lazyregexp", "internal/cli/lists", "internal/configuration/hcldepth", "internal/git/wildmatch", "internal/net/hostname", "internal/text/jsonkeys", "internal/disk/packagelimits", "internal/disk/pathsafe", "internal/text/textform"}},
	{"values and tools", []string{
		"addrs", "installer/evidence", "hashing", "versions", // the types of the API
		"internal/git/gitattr", "internal/provider/signing", // formats and signatures
		"internal/disk/atomicfile", "internal/disk/zipfile", // files
		"internal/process/procgroup", "internal/process/singleflight", "internal/process/trace", // processes and goroutines
		"internal/git/gittest", "internal/net/oci/registrytest", "internal/hostile", "internal/net/httpx/webtest", "internal/layering", // for tests
	}},
	{"what configurations say, events of runs, which evidence is enough, trees that are written and hashed, git directories and their owners, locks between processes, and the processes of tests", []string{"installer/config", "installer/event", "internal/git/gitdir", "internal/rules/evidencerules", "internal/disk/filelock", "internal/testenv", "internal/disk/treewriter"}},
	{"files that are read and written, expressions, and terminals", []string{
		"internal/configuration/eval", "internal/git", "internal/disk/providerzip", "internal/configuration/repofiles", "internal/text/sanitize", "ocistore", "policy",
	}},
	{"the lock, the reader of configuration, the user's key, HTTP and pictures", []string{
		"internal/configuration/configread", "internal/cli/graph", "internal/net/hostname", "internal/net/httpx", "internal/store/userkey", "lockfile",
	}},
	{"the sources of calls, git's protocol, OCI artifacts and the project's files", []string{"internal/configuration/callsource", "internal/git/gitwire", "internal/net/oci", "internal/project"}},
	{"git commands", []string{"internal/git/gitexec"}},
	{"the user's store of packages, git in this process, the user's checkout, and cotter.hcl", []string{"internal/project/detect", "internal/git/inprocess", "internal/git/worktree", "internal/project/policyfile", "internal/store"}},
	{"the walk through the module tree, and packages from the store as artifacts", []string{"internal/store/artifact", "internal/project/treewalk"}},
	{"where modules come from, and what is known of the lock's entries", []string{"disco", "getmodules", "internal/store/lockentry", "registryclient"}},
	{"the module tree, for programs that only read", []string{"moduletree"}},
	{"what object stores have in common", []string{"getmodules/internal/objects"}},
	{"where providers come from, and the directories of packages in a project", []string{"getproviders", "internal/project/packagedir"}},
	{"providers from there to the user's store, and what policies say of them", []string{"internal/store/providerfetch", "internal/rules"}},
	{"what the origins of modules have", []string{"internal/store/origins"}},
	{"what bundles and mirrors have, and the providers of a tree", []string{"internal/store/storefetch", "internal/provider/treeproviders"}},
	{"what programs choose to add to fetches", []string{"cliconfig", "getmodules/*"}},
	{"functions and types that the installer sets for other packages", []string{"internal/installerinternal/hook"}},
	{"the installer", []string{"installer"}},
	{"functions of the installer that are not in its API", []string{"internal/installerinternal"}},
	{"what programs choose to add to the installer", []string{"bundle", "installer/edit", "internal/cli/repository", "mirror"}},
	{"servers for tests, and the check of servers", []string{"conformance", "modtest", "bench/internal/*"}},
	{"what is printed for people, and the limits that users set", []string{"internal/cli/limits", "internal/cli/view"}},
	{"what users can do about errors, and what the command reports", []string{"internal/cli/advice", "internal/cli/records"}},
	{"programs", []string{"bench", "cmd/*", "examples/*"}},
}

// heavy lists dependencies that are large or belong to one layer, with the packages that may
// import them. A name that ends in a slash stands for all packages below it.
var heavy = []struct {
	dependency string
	importers  []string
}{
	{"github.com/aws/", []string{"getmodules/s3"}},
	{"golang.org/x/oauth2/", []string{"getmodules/gcs"}},
	// None of our packages may import these. golang.org/x/oauth2 needs some of them.
	{"cloud.google.com/go/", nil},
	{"github.com/hashicorp/go-getter/", []string{"getmodules/gogetter"}},
	// Formats only: the client needs 0.5 MB.
	{"github.com/go-git/go-git/", []string{"internal/git/worktree"}},
	{"github.com/ulikunitz/xz/", []string{"getmodules/xz"}},
	{"github.com/ProtonMail/go-crypto/", []string{"bench", "internal/provider/signing", "modtest"}},
	{"oras.land/oras-go/", []string{"conformance", "getmodules"}},
	{"cuelabs.dev/go/oci/ociregistry", []string{"modtest"}},
	{"github.com/vbauerster/mpb/", []string{"internal/cli/view"}},
	{"golang.org/x/term", []string{"internal/cli/view"}},
	// Version 1 of HCL, which the CLI configuration of stock tools uses.
	{"github.com/hashicorp/hcl/hcl/", []string{"cliconfig"}},
	{"testing", []string{"internal/net/httpx/webtest", "internal/testenv"}},
}

func lists(packages []string, dir string) bool {
	return slices.ContainsFunc(packages, func(p string) bool {
		parent, below := strings.CutSuffix(p, "*")
		return p == dir || below && strings.HasPrefix(dir, parent)
	})
}

// layerOf returns the number of a package's layer. The bottom layer has the lowest number.
func layerOf(dir string) (number int, ok bool) {
	number = slices.IndexFunc(layers, func(l layer) bool { return lists(l.packages, dir) })
	return number, number >= 0
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, s := range code(t) {
		own, ok := layerOf(s.dir)
		if !ok {
			t.Errorf("%s: package %s is not in the table of layers; add it", s.name, s.dir)
			continue
		}
		for _, p := range s.imports() {
			ours, ok := strings.CutPrefix(p, module)
			if !ok {
				continue
			}
			dir := strings.TrimPrefix(ours, "/")
			if below, ok := layerOf(dir); !ok || below >= own {
				t.Errorf("%s imports %s, which is not in a layer below %q", s.name, dir, layers[own].name)
			}
		}
	}
}

// commandImports are the internal packages that cmd/cotter may import. Everything else that it needs
// is in the public API. Its package comment gives the reason for each.
var commandImports = []string{
	"internal/cli/repository", "internal/configuration/repofiles", "internal/disk/atomicfile", "internal/disk/packagelimits", "internal/disk/pathsafe", "internal/git", "internal/installerinternal", "internal/net/hostname", "internal/net/httpx", "internal/process/procgroup", "internal/store", "internal/text/lazyregexp", "internal/text/sanitize", "internal/text/textform",
}

// isCommand is for the command and the packages that only it uses, except for one that works like those of the API.
func isCommand(dir string) bool {
	return dir == "cmd/cotter" || strings.HasPrefix(dir, "internal/cli/") && dir != "internal/cli/repository"
}

func TestCommandImports(t *testing.T) {
	t.Parallel()
	var found []string
	documented := ""
	for _, s := range code(t) {
		if !isCommand(s.dir) {
			continue
		}
		documented += s.file.Doc.Text()
		for _, p := range s.imports() {
			dir, ours := strings.CutPrefix(p, module+"/")
			if ours && strings.Contains(dir, "internal/") && !isCommand(dir) && !slices.Contains(found, dir) {
				found = append(found, dir)
			}
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, commandImports) {
		t.Errorf("cmd/cotter and its packages import the internal packages %q, want %q: add what a program needs to the public API", found, commandImports)
	}
	for _, dir := range commandImports {
		if !strings.Contains(documented, dir+" ") {
			t.Errorf("the comment of cmd/cotter does not say why it imports %s", dir)
		}
	}
}

// TestLayersExist reports packages in the table that do not exist.
func TestLayersExist(t *testing.T) {
	t.Parallel()
	for _, l := range layers {
		for _, dir := range l.packages {
			if !slices.ContainsFunc(code(t), func(s source) bool { return lists([]string{dir}, s.dir) }) {
				t.Errorf("there is no package %s, but layer %q has it", dir, l.name)
			}
		}
	}
}

func TestHeavyImports(t *testing.T) {
	t.Parallel()
	for _, s := range code(t) {
		for _, p := range s.imports() {
			for _, h := range heavy {
				if matches(p, h.dependency) && !lists(h.importers, s.dir) {
					t.Errorf("%s imports %s, which is for %q only", s.name, p, h.importers)
				}
			}
		}
	}
}

func matches(importPath, dependency string) bool {
	dependency = strings.TrimSuffix(dependency, "/")
	return importPath == dependency || strings.HasPrefix(importPath, dependency+"/")
}
