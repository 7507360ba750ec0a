package layering_test

import (
	"slices"
	"strings"
	"testing"
)

// allowed says which of our packages each package may import, outside its
// tests. Imports point down: whoever embeds a package gets it with as little as
// possible. "internal/*" stands for all internal packages; "*" for everything.
var allowed = map[string][]string{
	".":                   {"addrs", "disco", "getmodules", "hashing", "internal/*", "lockfile", "policy", "registryclient", "versions", "versions/gittags", "versions/ocitags"},
	"addrs":               {},
	"cliconfig":           {"addrs", "disco", "getmodules", "internal/nesting", "internal/netrc", "internal/procgroup", "internal/singleflight", "internal/userfile"},
	"disco":               {"addrs", "internal/singleflight", "internal/httpx", "internal/netguard"},
	"getmodules":          {"addrs", "internal/git", "internal/git/*", "internal/httpx", "internal/minrate", "internal/netguard", "internal/retryafter", "internal/sanitize", "internal/treewriter"},
	"getmodules/gcs":      {"getmodules", "internal/httpx", "internal/objects", "internal/retryafter", "internal/sanitize"},
	"getmodules/hg":       {"addrs", "getmodules", "internal/procgroup", "internal/sanitize"},
	"getmodules/s3":       {"getmodules", "internal/httpx", "internal/objects"},
	"hashing":             {},
	"lockfile":            {"addrs", "hashing", "internal/atomicfile", "internal/nesting", "versions"},
	"modtest":             {"addrs", "hashing", "internal/git/gitserve"},
	"policy":              {"addrs", "internal/nesting", "versions"},
	"registryclient":      {"addrs", "internal/singleflight", "internal/httpx", "internal/minrate", "internal/netguard", "internal/retryafter", "versions"},
	"versions":            {"addrs"},
	"versions/gittags":    {"versions"},
	"versions/ocitags":    {"versions"},
	"cmd/*":               {"*"},
	"examples/*":          {"*"},
	"bench":               {"modtest", "bench/internal/report"},
	"bench/*":             {},
	"internal/gettertest": {"getmodules"},
	"internal/*":          {"addrs", "hashing", "internal/*"},
}

// heavy says who may import a dependency that is large, or that belongs to one
// layer. A name ending in a slash stands for all packages below.
var heavy = []struct {
	dependency string
	importers  []string
}{
	{"github.com/aws/", []string{"getmodules/s3"}},
	{"golang.org/x/oauth2/", []string{"getmodules/gcs"}},
	// No more of them than golang.org/x/oauth2 needs.
	{"cloud.google.com/go/", nil},
	{"github.com/hashicorp/go-getter", nil},
	{"github.com/go-git/go-git/", []string{"internal/git/inprocess"}},
	{"oras.land/oras-go/", []string{"getmodules"}},
	{"cuelabs.dev/go/oci/ociregistry", []string{"modtest"}},
	{"github.com/urfave/cli/", []string{"cmd/*"}},
	{"github.com/vbauerster/mpb/", []string{"cmd/*"}},
	{"golang.org/x/term", []string{"cmd/*"}},
	// Version 1, for the CLI configuration of stock tools.
	{"github.com/hashicorp/hcl/hcl/", []string{"cliconfig"}},
	{"testing", []string{"modtest", "internal/httpx/webtest", "internal/gettertest"}},
}

// lists reports whether a list of packages has this one.
func lists(packages []string, dir string) bool {
	return slices.ContainsFunc(packages, func(p string) bool {
		parent, below := strings.CutSuffix(p, "*")
		return p == dir || below && strings.HasPrefix(dir, parent)
	})
}

// rules returns what a package may import, and whether it is known at all.
func rules(dir string) ([]string, bool) {
	if r, ok := allowed[dir]; ok {
		return r, true
	}
	for name, r := range allowed {
		if lists([]string{name}, dir) {
			return r, true
		}
	}
	return nil, false
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, s := range code(t) {
		may, ok := rules(s.dir)
		if !ok {
			t.Errorf("%s: package %s is not in the table of what may import what; add it", s.name, s.dir)
			continue
		}
		for _, p := range s.imports() {
			ours, ok := strings.CutPrefix(p, module)
			if !ok {
				continue
			}
			dir := strings.TrimPrefix(ours, "/")
			if dir == "" {
				dir = "."
			}
			if !lists(may, dir) {
				t.Errorf("%s imports %s; %s may import only %q", s.name, dir, s.dir, may)
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

// matches reports whether an import path is the dependency or below it.
func matches(importPath, dependency string) bool {
	dependency = strings.TrimSuffix(dependency, "/")
	return importPath == dependency || strings.HasPrefix(importPath, dependency+"/")
}
