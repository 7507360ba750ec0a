package main

import (
	"strings"
	"testing"
)

const (
	packageLine = `(?m)^  package = .*$`
	// packagePart has the empty line too: an installation adds the value with it, and keeps what else is there.
	packagePart = `(?m)^  package = .*\n\n`
	hashLines   = `(?s)hashes = \[.*?\n  \]`
	h1Line      = `    "h1:.*\n`
	t1Line      = `    "t1:.*\n`
	zhLine      = `    "zh:.*\n`
	commitID    = `[0-9a-f]{40}`
	noHash      = `AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=`
)

// TestTamperLock changes attributes of the lock. No changed attribute may decide what is
// installed unless the origin confirms it.
func TestTamperLock(t *testing.T) {
	t.Parallel()
	// always is for changes that every installation must refuse.
	always := func(name, says string, verify *outcome, do ...step) tampering {
		no := refused(says)
		return tampering{name: name, do: all(do...), want: outcomes{locked: no, fresh: no, cold: no, verify: verify}}
	}
	// stale is for entries that belong to a different configuration. An installation that
	// may change the lock selects again.
	stale := func(name, key, says string, do ...step) tampering {
		no := refused("module "+key+" (main.tf:", says)
		return tampering{name: name, do: all(do...), want: outcomes{
			locked: no, install: healed(), verify: refused("module "+key+" (main.tf:", says, "Run `cotter install`")}}
	}
	// mended is for a wrong entry that still points to the right files.
	mended := func(name, says string, verify *outcome, do ...step) tampering {
		no := refused(says)
		return tampering{name: name, do: all(do...), want: outcomes{locked: no, fresh: no, cold: no, install: healed(says), verify: verify}}
	}
	edited := func(says string) *outcome {
		return refused("the lock has changed since the installation: ", says)
	}
	differs := refused("Module checksum verification failed")
	testTampering(t, tamperSite(t, "go", "app", "net"), []tampering{
		stale("version out of range", "net", `the locked version 2.0.0 does not meet the constraint "~> 1.0"`, lock("net", `"1.1.0"`, `"2.0.0"`)),
		always("another version in range", "the lock has SHORT, but the source points to commit SHORT", edited(`its version is "1.0.0" and not "1.1.0"`), lock("net", `"1.1.0"`, `"1.0.0"`)),
		always("version that is not offered", "1.9.9", edited(`its version is "1.9.9" and not "1.1.0"`), lock("net", `"1.1.0"`, `"1.9.9"`)),
		stale("no version", "net", `the lock has no usable version`, lock("net", `  version = .*\n`, ``)),
		stale("source host", "net", `the lock is for source "registry.example.com/acme/net/aws"`, lock("net", `source  = "[^/]*`, `source  = "registry.example.com`)),
		stale("constraints", "net", `the lock was made for the constraint ">= 1.0.0", but the configuration says "~> 1.0"`, lock("net", `"~> 1.0"`, `">= 1.0.0"`)),
		stale("constraints gone", "net", `the lock was made for the constraint ""`, lock("net", `  constraints = .*\n\n`, ``)),
		always("commit and hashes of another version", "the source points to commit SHORT", differs, take("net", "app.net", packageLine), take("net", "app.net", hashLines)),
		always("hashes of a nested call", "Module checksum verification failed", differs, take("net.subnets", "net", hashLines)),
	})
	testTampering(t, tamperSite(t, "go", "branch", "commit", "range", "tag"), []tampering{
		always("another version of a repository", "the version 1.5.0 is no longer offered", edited(`its version is "1.5.0" and not "1.0.0"`), lock("range", `"1.0.0"`, `"1.5.0"`)),
		stale("source ref", "tag", `the lock is for source`, lock("tag", `ref=v1.0.0`, `ref=v0.9.0`)),
		always("commit of another tag", "Module checksum verification failed", edited("its package is"), take("branch", "commit", packageLine)),
		always("commit that does not exist", "module branch (main.tf:2)", edited("its package is"), lock("branch", commitID, strings.Repeat("f", 40))),
		always("commit and hashes, of a commit that the source names", "the source points to commit SHORT", differs, take("commit", "branch", packageLine), take("commit", "branch", hashLines)),
		mended("repository", "the lock does not match the origin: its package is", edited("its package is"), lock("branch", `git/plain.git\?ref=(`+commitID+`)`, `git/evil.git?ref=$1`)),
		mended("no package", "the lock does not match the origin: its package is", edited("its package is"), lock("branch", packagePart, ``)),
		always("subdirectory of a source's package", `in the directory "modules/other", and its origin says ""`, edited("its package is"), lock("tag", `(package.*)\?`, `$1//modules/other?`)),
		mended("zh of a repository", "its zh hash is", edited("its zh hash is"), lock("commit", `    "t1:.*\n`, `$0    "zh:`+strings.Repeat("0", 64)+`",`+"\n")),
	})
	testTampering(t, tamperSite(t, "go", "deep", "hosted", "parts"), []tampering{
		stale("source subdirectory", "parts", `the lock is for source`, lock("parts", `//modules/part`, `//modules/other`)),
		always("subdirectory of a registry's package", `the lock says that the package's modules begin in the directory "modules/other", and its origin says "modules/dns"`, edited("its package is"), lock("deep", `//modules/dns`, `//modules/other`)),
		always("no subdirectory of a registry's package", `the lock says that the package's modules begin in the directory "", and its origin says "modules/dns"`, edited("its package is"), lock("deep", `//modules/dns`, ``)),
		always("subdirectory of an archive of a registry", `and its origin says "hosted-1.0.0"`, edited("its package is"), lock("hosted", `//hosted-1.0.0`, ``)),
		always("subdirectory that does not exist", `module deep (main.tf:2)`, edited("its package is"), lock("deep", `//modules/dns`, `//modules/none`)),
	})
	testTampering(t, tamperSite(t, "go", "oci", "ocidigest", "tgz", "zip"), []tampering{
		stale("version of a source without", "zip", `the lock has version 9.0.0 for a source without versions`, lock("zip", "\n  source", "\n  version = \"9.0.0\"\n  source")),
		stale("source path", "zip", `the lock is for source "https://HOST/archives/m.zip"`, lock("zip", `n\.zip`, `m.zip`)),
		always("digest", "the address and the pinned revision name different digests", edited("its package is"), lock("ocidigest", `(package.*sha256:).`, `${1}0`)),
		mended("archive", "the lock does not match the origin: its package is", edited("its package is"), lock("tgz", `package = ".*"`, `package = "https://HOST/archives/evil.tar.gz"`)),
		always("h1", "Module checksum verification failed", differs, lock("zip", `"h1:....`, `"h1:AAAA`)),
		always("t1", "Module checksum verification failed", differs, lock("zip", `"t1:....`, `"t1:AAAA`)),
		always("all hashes of another module", "Module checksum verification failed", differs, take("tgz", "oci", hashLines)),
		mended("zh", "its zh hash is", edited("its zh hash is"), lock("zip", `"zh:....`, `"zh:0000`)),
		mended("zh gone", "its zh hash is", edited("its zh hash is"), lock("zip", zhLine, ``)),
		mended("t1 gone", "its t1 hash is", edited("its t1 hash is"), lock("zip", t1Line, ``)),
		mended("h1 gone", "its h1 hash is", edited("its h1 hash is"), lock("zip", h1Line, ``)),
	})
}
