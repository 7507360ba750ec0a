package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/modtest"
)

// tamperWorld has a package from every kind of origin.
const tamperWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
# net 1.0.0
-- registry/acme/net/aws/1.1.0/main.tf --
module "subnets" {
  source  = "MODTEST_HOST/acme/subnets/aws"
  version = "~> 0.3"
}
module "a" {
  source = "./modules/a"
}
-- registry/acme/net/aws/1.1.0/modules/a/main.tf --
# a
-- registry/acme/net/aws/1.1.0/README.md --
# Network
-- registry/acme/subnets/aws/0.3.0/main.tf --
# subnets
-- registry/acme/parts/aws/1.0.0/main.tf --
# parts
-- registry/acme/parts/aws/1.0.0/modules/part/main.tf --
# part
-- registry/acme/parts/aws/1.0.0/modules/other/main.tf --
# other
-- git/mono.git/v1.0.0/modules/dns/main.tf --
module "zone" {
  source = "../zone"
}
-- git/mono.git/v1.0.0/modules/zone/main.tf --
# zone
-- git/mono.git/v1.0.0/modules/other/main.tf --
# other
-- git/mono.git/v1.0.0/shared/policy.json --
{}
-- git/plain.git/v0.9.0/main.tf --
# plain 0.9.0
-- git/plain.git/v1.0.0/main.tf --
# plain 1.0.0
-- git/plain.git/_HEAD/main.tf --
# plain main
-- oci/acme%2Foci/1.0.0/main.tf --
# oci
-- archives/n.zip/main.tf --
# zip
-- archives/n.zip/README.md --
# Zip
-- archives/n.tar.gz/main.tf --
# tgz
-- archives/hosted.tar.gz/hosted-1.0.0/main.tf --
# hosted
`

// tamperCalls are calls of all these packages, by their keys.
var tamperCalls = map[string]string{
	"net":       `source = "MODTEST_HOST/acme/net/aws", version = "~> 1.0"`,
	"parts":     `source = "MODTEST_HOST/acme/parts/aws//modules/part", version = "1.0.0"`,
	"deep":      `source = "MODTEST_HOST/acme/deep/aws", version = "1.0.0"`,
	"hosted":    `source = "MODTEST_HOST/acme/hosted/aws", version = "1.0.0"`,
	"tag":       `source = "git::https://MODTEST_HOST/git/mono.git//modules/dns?ref=v1.0.0"`,
	"branch":    `source = "git::https://MODTEST_HOST/git/plain.git?ref=main"`,
	"commit":    `source = "git::https://MODTEST_HOST/git/plain.git?ref=COMMIT"`,
	"range":     `source = "git::https://MODTEST_HOST/git/plain.git?version=~> 1.0"`,
	"oci":       `source = "oci://MODTEST_HOST/acme/oci?tag=1.0.0"`,
	"ocidigest": `source = "oci://MODTEST_HOST/acme/oci?digest=DIGEST"`,
	"zip":       `source = "https://MODTEST_HOST/archives/n.zip"`,
	"tgz":       `source = "https://MODTEST_HOST/archives/n.tar.gz"`,
	"app":       `source = "./app"`,
}

// site is an intact installation of some calls, with its servers.
type site struct {
	world *modtest.World
	home  string
	dir   string // the project
	cache string
	good  map[string]string // the project's files
	// gitBackend is the client for git repositories: the fast one, unless the test is about
	// the other.
	gitBackend string
}

// newSite starts a world and installs calls in this order. gitBackend is the client for git
// repositories.
func newSite(t *testing.T, gitBackend string, keys ...string) *site {
	t.Helper()
	fsys, err := txtar.FS(txtar.Parse([]byte(tamperWorld)))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{world: modtest.New(t, withOddFiles(t, fsys)), home: t.TempDir(), gitBackend: gitBackend}
	s.dir, s.cache = filepath.Join(s.home, "project"), filepath.Join(s.home, "cache")
	s.answer(s.registryAnswer("deep", "git::https://MODTEST_HOST/git/mono.git//modules/dns?ref=v1.0.0"),
		s.registryAnswer("hosted", "https://MODTEST_HOST/archives/hosted.tar.gz//*"))
	writeText(t, filepath.Join(s.home, "cli.tfrc"), "")
	config := ""
	for _, key := range keys {
		config += fmt.Sprintf("module %q {\n  %s\n}\n", key, tamperCalls[key])
	}
	writeText(t, filepath.Join(s.dir, "main.tf"), s.expand(t, config))
	writeText(t, filepath.Join(s.dir, "app/main.tf"), s.expand(t, "module \"net\" {\n  "+`source = "MODTEST_HOST/acme/net/aws", version = "1.0.0"`+"\n}\n"))
	if status, out := s.run(s.dir, s.cache, "install"); status != 0 {
		t.Fatalf("the first installation: status %d\n%s", status, out)
	}
	s.good = picture(t, s.dir)
	return s
}

// withOddFiles adds files that txtar cannot represent: an executable file and links.
func withOddFiles(t *testing.T, text fs.FS) fs.FS {
	t.Helper()
	all := fstest.MapFS{
		"git/mono.git/v1.0.0/modules/dns/run.sh":  {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"git/mono.git/v1.0.0/modules/dns/link.md": {Data: []byte("../../shared/policy.json"), Mode: fs.ModeSymlink},
		"archives/n.zip/run.sh":                   {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"archives/n.zip/link.md":                  {Data: []byte("README.md"), Mode: fs.ModeSymlink},
	}
	err := fs.WalkDir(text, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(text, name)
		all[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// registryAnswer makes the registry have one version of a package, at the given address.
func (s *site) registryAnswer(name, location string) []modtest.Fault {
	at := "/v1/modules/acme/" + name + "/aws/"
	location = strings.ReplaceAll(location, "MODTEST_HOST", string(s.world.Host()))
	return []modtest.Fault{
		{Path: at + "versions", Status: 200, Body: `{"modules":[{"versions":[{"version":"1.0.0"}]}]}`},
		{Path: at + "1.0.0/download", Status: 200, Body: fmt.Sprintf(`{"location":%q}`, location)},
	}
}

func (s *site) answer(faults ...[]modtest.Fault) { s.world.SetFaults(slices.Concat(faults...)...) }

// expand inserts the addresses of the world into a configuration.
func (s *site) expand(t *testing.T, config string) string {
	t.Helper()
	commit, err := s.world.Commit("plain.git", "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	digest, err := s.world.OCIDigest("acme/oci", "1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	config = strings.ReplaceAll(config, ", version", "\n  version")
	return strings.NewReplacer("MODTEST_HOST", string(s.world.Host()), "COMMIT", commit, "DIGEST", digest).Replace(config)
}

// run runs the command as its user would, and returns its exit status and output.
func (s *site) run(dir, cache string, args ...string) (status int, out string) {
	return ended(warm.run(dir, append(append(os.Environ(), s.world.Env()...), "CI=", "NO_COLOR=1", "HOME="+s.home, "XDG_STATE_HOME=", "COTTER_STATE_DIR=", "COTTER_GIT_BACKEND="+s.gitBackend,
		"COTTER_CACHE_DIR="+cache, "TF_CLI_CONFIG_FILE="+filepath.Join(s.home, "cli.tfrc")), args...))
}

// ended returns the exit status of a command in a worker, and the command's output or the
// worker's error.
func ended(out string, err error) (int, string) {
	if status := exitCode(err); status >= 0 {
		return status, out
	}
	return -1, err.Error()
}

func writeText(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
