//go:build linux || darwin

package main

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
)

// foreignPlatform is a platform on which the tests do not run. If a cell forges the platform, the
// registry's package for it has the attacker's text.
const foreignPlatform = "solaris_amd64"

func cellProvider(text string) fstest.MapFS {
	return fstest.MapFS{"terraform-provider-cloud": {Data: []byte(text)}}
}

// newProviderSite is newCellSite for the provider acme/cloud. The attacker names a mirror directory
// with the forged package.
func (s *cellSite) newProviderSite(t *testing.T, c cell) {
	t.Helper()
	platform := addrs.CurrentPlatform().String()
	foreign := "# other\n"
	if c.forged == "other platform" {
		foreign = "# evil\n"
	}
	s.world = modtest.New(t, fstest.MapFS{
		"providers/acme/cloud/1.0.0/" + platform + "/terraform-provider-cloud":        {Data: []byte("# honest\n")},
		"providers/acme/cloud/1.0.0/" + foreignPlatform + "/terraform-provider-cloud": {Data: []byte(foreign)},
		"providers/acme/disk/1.0.0/" + platform + "/terraform-provider-disk":          {Data: []byte("# disk\n")},
		"providers/acme/disk/1.0.0/" + foreignPlatform + "/terraform-provider-disk":   {Data: []byte("# disk\n")},
	})
	host := string(s.world.Host())
	s.config = "terraform {\n  required_providers {\n    cloud = {\n      source = \"MODTEST_HOST/acme/cloud\"\n    }\n    disk = {\n      source = \"MODTEST_HOST/acme/disk\"\n    }\n  }\n}\n"
	s.honestMirror, s.evilMirror = "oci://"+host+"/honest", "oci://"+host+"/evil"
	honest := s.user(t, "")
	honest.mustRun(t, "lock")
	if c.forged == "other platform" {
		honest.mustRun(t, "lock --platform "+platform+" --platform "+foreignPlatform)
	}
	honest.mustRun(t, "install --locked")
	s.honest = honest.lockText(t)
	honest.mustRun(t, "mirror push "+s.honestMirror)
	s.bundle = filepath.Join(s.top, "honest.tar")
	honest.mustRun(t, "bundle create --out "+s.bundle)

	s.attacker, s.forged = s.user(t, s.honest), s.honest
	plugins := filepath.Join(s.top, "plugins")
	if c.forged == "nothing" {
		s.writePlugins(t, plugins, "1.0.0", "# honest\n")
	} else {
		s.forgeProvider(t, c, plugins)
	}
	s.attacker.env = append(s.attacker.env, "COTTER_LAYOUT=copy")
	s.attacker.mustRun(t, "install --locked")
	s.attacker.mustRun(t, "mirror push "+s.evilMirror)
	if c.forged == "signature" {
		testenv.Must(t, s.world.SetProviderShape("acme/cloud", "1.0.0", modtest.ProviderUnknownKey))
	}
	testenv.Must(t, s.world.PublishProvider("acme/disk", "1.1.0", platform, fstest.MapFS{"terraform-provider-disk": {Data: []byte("# disk\n")}}))
}

// writePlugins writes a mirror directory with a package of the provider for this platform.
func (s *cellSite) writePlugins(t *testing.T, dir, version, text string) {
	t.Helper()
	platform := addrs.CurrentPlatform().String()
	world := modtest.New(t, fstest.MapFS{"providers/acme/cloud/" + version + "/" + platform + "/terraform-provider-cloud": {Data: []byte(text)}})
	testenv.Must(t, world.WriteProviderMirror(dir, modtest.ProviderMirror{Host: s.world.Host()}))
}

// forgeProvider forges the lock's entry of the provider, and writes the package that fits it into
// the attacker's mirror directory.
func (s *cellSite) forgeProvider(t *testing.T, c cell, plugins string) {
	t.Helper()
	version := "1.0.0"
	if c.forged == "version" {
		version = "2.0.0"
	}
	s.writePlugins(t, plugins, version, "# evil\n")
	if c.forged == "signature" {
		testenv.Must(t, s.world.PublishProvider("acme/cloud", "1.0.0", addrs.CurrentPlatform().String(), cellProvider("# evil\n")))
	}
	cloud := s.world.ProviderSource("acme/cloud")
	testenv.WriteFile(t, filepath.Join(s.attacker.home, "cli.tfrc"), "provider_installation {\n  filesystem_mirror {\n    path    = \""+filepath.ToSlash(plugins)+"\"\n    include = [\""+cloud+"\"]\n  }\n  direct {\n    exclude = [\""+cloud+"\"]\n  }\n}\n")
	remove(t, filepath.Join(s.attacker.project, lockFile))
	s.attacker.mustRun(t, "lock")
	forged := s.attacker.lockText(t)
	switch c.forged {
	case "added hash":
		lock, err := lockfile.Parse([]byte(s.honest), lockFile)
		testenv.Must(t, err)
		entry := cellEntry(t, s.honest, s.world)
		entry.Hashes = append(slices.Clone(entry.Hashes), cellEntry(t, forged, s.world).Hashes...)
		lock.SetProvider(entry)
		forged = string(lock.Bytes())
	case "other platform":
		forged = s.honest
	}
	s.forged = forged
	s.attacker.write(t, lockFile, forged)
}

func cellEntry(t *testing.T, text string, world *modtest.World) lockfile.Provider {
	t.Helper()
	lock, err := lockfile.Parse([]byte(text), lockFile)
	testenv.Must(t, err)
	entry, _ := lock.Provider(addrs.Provider{Hostname: world.Host(), Namespace: "acme", Type: "cloud"})
	return entry
}

// installedProvider returns the text of the installed provider, of the locked version.
func (s *site) installedProvider(t *testing.T) string {
	t.Helper()
	version := cmp.Or(cellEntry(t, s.lockText(t), s.world).Version.String(), "*")
	names, err := filepath.Glob(filepath.Join(s.project, ".terraform/providers", s.world.ProviderSource("acme/cloud"), version, addrs.CurrentPlatform().String(), "terraform-provider-cloud"))
	testenv.Must(t, err)
	var texts strings.Builder
	for _, name := range names {
		texts.Write(readFile(t, name))
	}
	return texts.String()
}
