package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// originTampering changes the origin of a module. Installed modules and cached packages are
// still valid; a run that has neither must notice the change.
type originTampering struct {
	name string
	call string // the installed call, in the second line of main.tf
	do   func(*site) error
	cold *outcome // install --locked, without .terraform and with an empty cache
	anew *outcome // install, without .terraform and with an empty cache
	asks *outcome // verify --remote
}

func testOrigins(t *testing.T, gitBackend string, rows []originTampering) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := tamperSite(t, gitBackend, row.call)
			testenv.Must(t, row.do(s))
			s.tamper(t, tampering{do: all(), want: outcomes{
				locked: accepted(), fresh: healed(), cold: row.cold, anew: row.anew, verify: accepted(), remote: row.asks}})
		})
	}
}

var evil = modtest.Txtar("-- main.tf --\n# evil\n")

// named returns a failure whose message names the call.
func named(key string, says ...string) *outcome {
	return refused(append(says, "module "+key+" (main.tf:")...)
}

func TestTamperRepositories(t *testing.T) {
	t.Parallel()
	const moved = "moved SHORT -> SHORT, or the lock was edited"
	tag := func(do func(*site) error, name string, cold, anew, asks *outcome) originTampering {
		return originTampering{name, "tag", do, cold, anew, asks}
	}
	testOrigins(t, "auto", []originTampering{
		tag(func(s *site) error { return s.world.MoveTag("mono.git", "v1.0.0", evil) }, "tag moved",
			named("tag", "tag v1.0.0 "+moved, "run `cotter update tag --accept-changed tag`"), healed(), refused("tag v1.0.0 moved SHORT -> SHORT, used by tag (main.tf:1)", "run `cotter update tag --accept-changed tag`")),
		tag(func(s *site) error { return s.world.DeleteTag("mono.git", "v1.0.0") }, "tag deleted",
			named("tag", "v1.0.0"), healed(), refused("module tag (main.tf:2)", "v1.0.0")),
		tag(func(s *site) error { return s.world.ReplaceRepository("mono.git", "v1.0.0", evil) }, "another history",
			named("tag", "COMMIT"), named("tag", "COMMIT"), refused("tag v1.0.0 moved SHORT -> SHORT, used by tag (main.tf:1)")),
		tag(func(s *site) error { return s.world.PublishTag("mono.git", "v2.0.0", evil) }, "another tag",
			healed(), healed(), accepted()),
		tag(func(s *site) error {
			s.world.SetFaults(modtest.Fault{Path: "/git/mono.git", Status: 404})
			return nil
		}, "no repository", named("tag", "there is no repository https://"), named("tag", "there is no repository https://"), refused("module tag (main.tf:2)")),

		{"branch moved", "branch", func(s *site) error { return s.world.PublishTag("plain.git", "v3.0.0", evil) },
			healed(), healed(), refused("branch main moved SHORT -> SHORT, used by branch (main.tf:1)")},
		{"another history of a branch", "branch", func(s *site) error { return s.world.ReplaceRepository("plain.git", "v1.0.0", evil) },
			named("branch", "COMMIT"), named("branch", "COMMIT"), refused("branch main moved SHORT -> SHORT")},
		{"tag of a commit moved", "commit", func(s *site) error { return s.world.MoveTag("plain.git", "v1.0.0", evil) },
			healed(), healed(), accepted()},
		{"commit gone", "commit", func(s *site) error { return s.world.ReplaceRepository("plain.git", "v1.0.0", evil) },
			named("commit", "COMMIT"), named("commit", "COMMIT"), accepted()},
		{"tag in a range moved", "range", func(s *site) error { return s.world.MoveTag("plain.git", "v1.0.0", evil) },
			named("range", "tag v1.0.0 "+moved, "run `cotter update range --accept-changed range`"), healed(), refused("tag v1.0.0 moved SHORT -> SHORT, used by range (main.tf:1)")},
		{"tag in a range deleted", "range", func(s *site) error { return s.world.DeleteTag("plain.git", "v1.0.0") },
			named("range", "the version 1.0.0 is no longer offered"), healed(), refused("the version 1.0.0 is no longer offered")},
		{"newer tag in a range", "range", func(s *site) error { return s.world.PublishTag("plain.git", "v1.1.0", evil) },
			healed(), healed(), accepted()},
	})
}

func TestTamperRegistry(t *testing.T) {
	t.Parallel()
	// location makes the registry return another address for a package.
	location := func(name, address string) func(*site) error {
		return func(s *site) error {
			s.answer(s.registryAnswer(name, address))
			return s.world.PublishTag("mono.git", "v2.0.0", modtest.Txtar("-- modules/dns/main.tf --\n# evil\n"))
		}
	}
	services := func(body string) func(*site) error {
		return func(s *site) error {
			s.world.SetFaults(modtest.Fault{Path: "/.well-known/terraform.json", Status: 200, Body: body,
				Header: map[string][]string{"Content-Type": {"application/json"}}})
			return nil
		}
	}
	const other = "the lock says that the package's modules begin in the directory \"modules/dns\", and its origin says \"modules/other\""
	testOrigins(t, "go", []originTampering{
		{"another directory", "deep", location("deep", "git::https://MODTEST_HOST/git/mono.git//modules/other?ref=v1.0.0"),
			named("deep", other), named("deep", other), refused("directory moved modules/dns -> modules/other, used by deep (main.tf:1)")},
		{"another tag", "deep", location("deep", "git::https://MODTEST_HOST/git/mono.git//modules/dns?ref=v2.0.0"),
			named("deep", "tag v2.0.0 moved SHORT -> SHORT"), healed(), refused("tag v2.0.0 moved SHORT -> SHORT, used by deep (main.tf:1)")},
		{"another repository", "deep", location("deep", "git::https://MODTEST_HOST/git/plain.git//modules/dns?ref=v1.0.0"),
			named("deep", "COMMIT"), named("deep", "COMMIT"), refused("tag v1.0.0 moved SHORT -> SHORT, used by deep (main.tf:1)")},
		{"a file of this machine", "deep", location("deep", "file:///etc"), named("deep", "file"), named("deep", "file"), refused("module deep (main.tf:2)")},
		{"another archive of the same files", "hosted", func(s *site) error {
			s.answer(s.registryAnswer("hosted", "https://MODTEST_HOST/archives/moved.tar.gz//*"))
			return s.world.PublishArchive("moved.tar.gz", modtest.Txtar("-- hosted-1.0.0/main.tf --\n# hosted\n"))
		}, named("hosted", "the lock does not match the origin: its package is"), rewritten("the lock was corrected"), refused("address moved https://HOST/archives/hosted.tar.gz -> https://HOST/archives/moved.tar.gz, used by hosted (main.tf:1)")},
		{"archive changed", "hosted", func(s *site) error {
			return s.world.PublishArchive("hosted.tar.gz", modtest.Txtar("-- hosted-1.0.0/main.tf --\n# evil\n"))
		}, named("hosted", "Module checksum verification failed"), named("hosted", "Module checksum verification failed"), refused("content changed h1:HASH -> h1:HASH, used by hosted (main.tf:1)")},

		{"version published anew", "net", func(s *site) error { return s.world.PublishVersion("acme/net/aws", "1.1.0", evil) },
			named("net", "the lock has SHORT, but the source points to commit SHORT", "run `cotter update net --accept-changed net`"), named("net", "the lock has SHORT, but the source points to commit SHORT"),
			refused("commit COMMIT moved SHORT -> SHORT, used by net (main.tf:1)")},
		{"version withdrawn", "net", func(s *site) error { return s.world.WithdrawVersion("acme/net/aws", "1.1.0") },
			named("net", "404"), named("net", "404"), refused("module net (main.tf:2)")},
		{"nested version withdrawn", "net", func(s *site) error { return s.world.WithdrawVersion("acme/subnets/aws", "0.3.0") },
			refused("module net.subnets (.terraform/modules/net/main.tf:2)"), refused("module net.subnets (.terraform/modules/net/main.tf:2)"), refused("module net.subnets (")},
		{"newer version", "net", func(s *site) error { return s.world.PublishVersion("acme/net/aws", "1.2.0", evil) },
			healed(), healed(), accepted()},
		{"another registry behind the host", "net", services(`{"modules.v1": "/elsewhere/"}`), named("net", "404"), named("net", "404"), refused("module net (main.tf:2)")},
	})
}

func TestTamperArchives(t *testing.T) {
	t.Parallel()
	fault := func(f modtest.Fault) func(*site) error {
		return func(s *site) error {
			s.world.SetFaults(f)
			return nil
		}
	}
	publish := func(name, text string) func(*site) error {
		return func(s *site) error { return s.world.PublishArchive(name, modtest.Txtar(text)) }
	}
	const failed = "; it was changed at its origin or tampered with"
	changed := func(key string) *outcome {
		return refused("content changed h1:HASH -> h1:HASH, used by "+key+" (main.tf:1)", "run `cotter update "+key+" --accept-changed "+key+"`")
	}
	testOrigins(t, "go", []originTampering{
		{"zip changed", "zip", publish("n.zip", "-- main.tf --\n# evil\n"), named("zip", failed), named("zip", failed), changed("zip")},
		{"tar.gz changed", "tgz", publish("n.tar.gz", "-- main.tf --\n# evil\n"), named("tgz", failed), named("tgz", failed), changed("tgz")},
		{"file added", "tgz", publish("n.tar.gz", "-- main.tf --\n# tgz\n-- evil.tf --\n"), named("tgz", failed), named("tgz", failed), changed("tgz")},
		{"same files in another zip", "zip", func(s *site) error {
			body, err := storedZip()
			s.world.SetFaults(modtest.Fault{Path: "/archives/n.zip", Status: 200, Body: body})
			return err
		}, named("zip", "the lock does not match the origin: its zh hash is"), rewritten("the lock was corrected"), refused("content changed zh:HASH -> zh:HASH, used by zip (main.tf:1)")},
		{"gone", "zip", fault(modtest.Fault{Path: "/archives/n.zip", Status: 404}), named("zip", "404"), named("zip", "404"), refused("module zip (main.tf:2)")},

		{"tag moved", "oci", func(s *site) error { return s.world.PushOCI("acme/oci", "1.0.0", modtest.OCIModule, evil) },
			named("oci", "tag 1.0.0 moved DIGEST -> DIGEST", "run `cotter update oci --accept-changed oci`"), healed(), refused("tag 1.0.0 moved sha256:SHORT -> sha256:SHORT, used by oci (main.tf:1)")},
		{"tag moved, digest locked", "ocidigest", func(s *site) error { return s.world.PushOCI("acme/oci", "1.0.0", modtest.OCIModule, evil) },
			healed(), healed(), accepted()},
		{"another manifest", "ocidigest", fault(modtest.Fault{Path: "/v2/acme/oci/manifests/sha256:", Status: 200, Body: `{"schemaVersion":2}`,
			Header: map[string][]string{"Content-Type": {"application/vnd.oci.image.manifest.v1+json"}}}), named("ocidigest", "digest"), named("ocidigest", "digest"), accepted()},
		{"another blob", "oci", fault(modtest.Fault{Path: "/v2/acme/oci/blobs/", Status: 200, Body: strings.Repeat("x", 300)}), named("oci"), named("oci"), accepted()},
		{"repository gone", "oci", fault(modtest.Fault{Path: "/v2/acme/oci/", Status: 404}), named("oci"), named("oci"), refused("module oci (main.tf:2)")},
	})
}

// storedZip returns n.zip of the world, packed in a different way.
func storedZip() (string, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range []struct {
		name, text string
		mode       fs.FileMode
	}{{"main.tf", "# zip\n", 0o644}, {"README.md", "# Zip\n", 0o644}, {"run.sh", "#!/bin/sh\n", 0o755}, {"link.md", "README.md", fs.ModeSymlink | 0o777}} {
		header := &zip.FileHeader{Name: f.name, Method: zip.Store, Comment: "other"}
		header.SetMode(f.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			return "", err
		}
		if _, err := file.Write([]byte(f.text)); err != nil {
			return "", err
		}
	}
	err := w.Close()
	return out.String(), err
}
