//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/lockentry"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

const cellWorld = `
-- git/net.git/v1.0.0/main.tf --
# honest
-- git/net.git/v1.0.0/fork/main.tf --
# fork
-- git/other.git/v1.0.0/main.tf --
# other
-- registry/acme/net/aws/1.0.0/main.tf --
# honest
-- registry/acme/net/aws/1.0.0/fork/main.tf --
# fork
`

var cellSources = map[string]struct{ config, repo string }{
	"git":      {"  source = \"git::https://MODTEST_HOST/git/net.git?ref=v1.0.0\"\n", "net.git"},
	"registry": {"  source  = \"MODTEST_HOST/acme/net/aws\"\n  version = \"~> 1.0\"\n", "registry/acme/net/aws.git"},
}

var cellEvil = fstest.MapFS{"main.tf": {Data: []byte("# evil\n")}}

// cellSite has the servers of a package, and the directories of an attacker who has forged
// something about it. It does not change after newCellSite.
type cellSite struct {
	world *modtest.World
	top   string
	// config is the root module, and honest and forged are its locks.
	config         string
	honest, forged string
	// attacker has the forged package in every form. For the honest site, nothing is forged.
	attacker *site
	// bundle has the honest packages, as has the mirror honestMirror.
	bundle                   string
	honestMirror, evilMirror string
}

// newCellSite starts the servers, lets an honest user lock and publish the packages, and then
// lets an attacker forge something.
func newCellSite(t *testing.T, c cell) *cellSite {
	t.Helper()
	s := &cellSite{top: t.TempDir()}
	if c.pkg == "provider" {
		s.newProviderSite(t, c)
	} else {
		s.newModuleSite(t, c)
	}
	return s
}

// user returns a user with an empty home directory and a project with a lock.
func (s *cellSite) user(t *testing.T, lock string) *site {
	t.Helper()
	u := newSite(t, s.world)
	u.write(t, "main.tf", s.config)
	if lock != "" {
		u.write(t, lockFile, lock)
	}
	return u
}

func (s *cellSite) newModuleSite(t *testing.T, c cell) {
	t.Helper()
	s.world = modtest.New(t, modtest.Txtar(cellWorld))
	host := string(s.world.Host())
	s.config = "module \"net\" {\n" + cellSources[c.pkg].config + "}\nmodule \"other\" {\n  source = \"git::https://MODTEST_HOST/git/other.git?version=~> 1.0\"\n}\n"
	s.honestMirror, s.evilMirror = "oci://"+host+"/honest", "oci://"+host+"/evil"
	honest := s.user(t, "")
	honest.mustRun(t, "install")
	s.honest = honest.lockText(t)
	honest.mustRun(t, "mirror push "+s.honestMirror)
	s.bundle = filepath.Join(s.top, "honest.tar")
	honest.mustRun(t, "bundle create --out "+s.bundle)
	testenv.Must(t, s.world.PublishTag("other.git", "v1.1.0", modtest.Txtar("-- main.tf --\n# other\n")))
	s.attacker = s.user(t, s.honest)
	s.attacker.mustRun(t, "install --locked")
	s.forged = s.honest
	if c.forged != "nothing" {
		s.forgeModule(t, c)
	}
	s.attacker.mustRun(t, "mirror push "+s.evilMirror)
	s.attacker.mustRun(t, "install --locked --offline")
}

// forgeModule forges the lock's entry of the module net, and confirms it with the attacker's key.
// The attacker's cache has the package.
func (s *cellSite) forgeModule(t *testing.T, c cell) {
	t.Helper()
	lock, err := lockfile.Parse([]byte(s.honest), lockFile)
	entry, ok := lock.Module("net")
	if err != nil || !ok {
		t.Fatalf("the honest lock: %v\n%s", err, s.honest)
	}
	tree, err := hashing.ReadTree(t.Context(), cellEvil)
	testenv.Must(t, err)
	if c.forged == "subdir" {
		entry.Package = testenv.Package(strings.Replace(entry.Package.String(), "?", "//fork?", 1))
	} else {
		entry.Hashes = []hashing.Hash{tree.H1(), tree.T1()}
	}
	switch c.forged {
	case "commit":
		commit, err := s.world.ProposeCommit(cellSources[c.pkg].repo, "refs/pull/1/head", cellEvil)
		testenv.Must(t, err)
		entry.Package = testenv.Package(strings.ReplaceAll(entry.Package.String(), entry.Revision(), commit))
	case "version":
		entry.Version = versions.MustParse("1.0.5")
	}
	lock.SetModule(entry)
	s.forged = string(lock.Bytes())
	s.attacker.write(t, lockFile, s.forged)

	key, err := userkey.Read(s.attacker.locate("@state"))
	testenv.Must(t, err)
	cache, err := store.OpenModules(s.attacker.cache, key)
	testenv.Must(t, err)
	defer cache.Close()
	if c.forged != "subdir" {
		staged := cache.Stage()
		testenv.WriteFile(t, filepath.Join(staged, "main.tf"), "# evil\n")
		testenv.Must(t, cache.Publish(staged, tree.T1()))
	}
	statements, origin := lockentry.StatementsOf(entry, lockentry.Call{Source: entry.Source}), evidence.Evidence{Kind: evidence.Origin}
	testenv.Must(t, cache.Confirm(evidencerules.Record(origin, statements.Package.For(origin)), evidencerules.Record(origin, statements.Ref.For(origin))))
}

func (s *cellSite) victim(t *testing.T, c cell) *site {
	t.Helper()
	u := s.user(t, s.forged)
	settings := ""
	brings := func(to, from string) {
		testenv.Must(t, os.CopyFS(to, os.DirFS(from)))
	}
	installed := filepath.Join(s.attacker.project, ".terraform")
	switch c.brought {
	case "restored cache":
		brings(u.cache, s.attacker.cache)
	case "committed .terraform":
		brings(filepath.Join(u.project, ".terraform"), installed)
		remove(t, filepath.Join(u.project, ".terraform/modules/.cotter"))
	case "kept copy":
		brings(filepath.Join(u.project, ".terraform"), installed)
		u.write(t, lockFile, "")
	case "repository's mirror":
		settings = "mirror \"" + s.evilMirror + "\" {\n}\n"
	case "user's mirror":
		u.env = append(u.env, "COTTER_MIRROR="+s.honestMirror)
		brings(filepath.Join(u.project, ".terraform"), installed)
	case "plugin cache":
		u.env = append(u.env, "TF_PLUGIN_CACHE_DIR="+filepath.Join(u.base, "plugins"))
		brings(filepath.Join(u.base, "plugins"), filepath.Join(installed, "providers"))
	case "terraform.d":
		brings(filepath.Join(u.project, "terraform.d/plugins"), filepath.Join(s.top, "plugins"))
	case "bundle":
		u.mustRun(t, "bundle import "+s.bundle)
		brings(filepath.Join(u.project, ".terraform"), installed)
	}
	if strings.HasPrefix(c.run, "verify") && c.forged != "nothing" && c.brought != "kept copy" && c.brought != "terraform.d" {
		remove(t, filepath.Join(u.project, ".terraform"))
		brings(filepath.Join(u.project, ".terraform"), installed) // there is nothing to verify without it
	}
	if settings != "" {
		u.write(t, "cotter.hcl", settings)
	}
	return u
}
