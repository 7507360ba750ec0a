package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// tamperWorld has a package from every kind of origin, and two of what the project of hostileConfig calls.
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
-- registry/acme/plain/aws/1.0.0/main.tf --
# plain 1.0.0
-- registry/acme/plain/aws/1.1.0/main.tf --
# plain 1.1.0
-- registry/acme/subnets/aws/0.3.0/main.tf --
# subnets
-- registry/acme/parts/aws/1.0.0/main.tf --
# parts
-- registry/acme/parts/aws/1.0.0/modules/part/main.tf --
# part
-- registry/acme/parts/aws/1.0.0/modules/other/main.tf --
# other
-- git/mono.git/v0.9.0/main.tf --
# mono 0.9.0
-- git/mono.git/v0.9.0/modules/dns/main.tf --
# dns 0.9.0
-- git/mono.git/v0.9.0/shared/policy.json --
[]
-- git/mono.git/v1.0.0/main.tf --
# mono
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
-- archives/other.zip/main.tf --
# other zip
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

// tamperSite starts a world and installs calls in this order. gitBackend is the client for git
// repositories: the fast one, unless the test is about the other.
func tamperSite(t *testing.T, gitBackend string, keys ...string) *site {
	t.Helper()
	s := newSite(t, modtest.New(t, withOddFiles(t, modtest.Txtar(tamperWorld))), "COTTER_GIT_BACKEND="+gitBackend)
	s.answer(s.registryAnswer("deep", "git::https://MODTEST_HOST/git/mono.git//modules/dns?ref=v1.0.0"),
		s.registryAnswer("hosted", "https://MODTEST_HOST/archives/hosted.tar.gz//*"))
	config := ""
	for _, key := range keys {
		config += fmt.Sprintf("module %q {\n  %s\n}\n", key, tamperCalls[key])
	}
	s.write(t, "main.tf", s.expand(t, config))
	s.write(t, "app/main.tf", "module \"net\" {\n  source  = \"MODTEST_HOST/acme/net/aws\"\n  version = \"1.0.0\"\n}\n")
	s.install(t)
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
	testenv.Must(t, err)
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

// expand inserts the commit and the digest of the world's packages into a configuration.
func (s *site) expand(t *testing.T, config string) string {
	t.Helper()
	commit, err := s.world.Commit("plain.git", "v1.0.0")
	testenv.Must(t, err)
	digest, err := s.world.OCIDigest("acme/oci", "1.0.0")
	testenv.Must(t, err)
	return strings.NewReplacer(", version", "\n  version", "COMMIT", commit, "DIGEST", digest).Replace(config)
}
