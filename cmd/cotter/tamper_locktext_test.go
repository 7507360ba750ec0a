package main

import (
	"strings"
	"testing"
)

func rewriteLock(rewrite func(string) string) step {
	return func(t *testing.T, s *site) {
		t.Helper()
		src := s.lockText(t)
		out := rewrite(src)
		if out == src {
			t.Fatalf("the lock is as before:\n%s", src)
		}
		put(lockFile, out)(t, s)
	}
}

// dropBlock removes a module's block and the blank line before it.
func dropBlock(key string) step {
	return func(t *testing.T, s *site) {
		t.Helper()
		edit(lockFile, "\n"+s.block(t, key), "")(t, s)
	}
}

// TestTamperLockText changes the text of the lock: it adds, removes and swaps blocks, and
// corrupts bytes.
func TestTamperLockText(t *testing.T) {
	t.Parallel()
	// broken is for a text that is not a valid lock.
	broken := func(name, says string, do ...step) tampering {
		no := refused(says)
		return tampering{name: name, do: all(do...), want: outcomes{locked: no, verify: no}}
	}
	row := func(name string, no, install, verify *outcome, do ...step) tampering {
		return tampering{name: name, do: all(do...), want: outcomes{locked: no, cold: no, install: install, verify: verify}}
	}
	vanished := func(name string, do step) tampering {
		gone := refused("the module entries of .terraform.lock.hcl have vanished", "Run `cotter lock --offline`")
		none := refused("module net (main.tf:5): the lock has no entry for it", "Run `cotter install` on your machine and commit the lock.")
		return tampering{name: name, do: do, want: outcomes{locked: gone, fresh: none, cold: none,
			install: healed("they are put back from the copy of the last run"), verify: refused("- module zip (main.tf:12): the lock has no entry for it")}}
	}
	// harmless is for a different spelling of the same lock.
	harmless := func(name string, do ...step) tampering {
		return tampering{name: name, do: all(do...), want: outcomes{locked: accepted(), verify: accepted()}}
	}
	unmerged := refused("Merge conflict in lock file (.terraform.lock.hcl:", "Run `cotter install` to merge the sides.")
	conflict := refused("Merge conflict in lock file (.terraform.lock.hcl:", "Then run `cotter install`")
	testTampering(t, tamperSite(t, "go", "app", "net", "tgz", "zip"), []tampering{
		row("block removed", refused("module zip (main.tf:12): the lock has no entry for it"), healed("zip"),
			refused("module zip (main.tf:12): the lock has no entry for it", "Run `cotter install`"), dropBlock("zip")),
		row("block of a nested call removed", refused("module net.subnets (.terraform/modules/net/main.tf:2): the lock has no entry for it"), healed("net.subnets"),
			refused("module net.subnets (", "the lock has no entry for it", "Run `cotter install`"), dropBlock("net.subnets")),
		row("block for no call", refused("module evil: the lock has an entry for it, but the configuration has no such call"), healed("evil"),
			refused("module evil: the lock has an entry for it, but the configuration has no such call", "- evil: not installed"), lock("zip", `(?s).*`, "$0\nmodule \"evil\" {\n  source = \"https://HOST/archives/n.zip\"\n  hashes = [\n    \"h1:"+noHash+"\",\n  ]\n}\n")),
		row("block renamed", refused("module zip (main.tf:12): the lock has no entry for it"), healed(), refused("- zip2: not installed"), lock("zip", `module "zip"`, `module "zip2"`)),
		row("blocks swapped", refused("module tgz (main.tf:9): the lock is for source"), healed(), refused("module zip (main.tf:12): the lock is for source", "module tgz ("),
			lock("zip", `module "zip"`, `module "x"`), lock("tgz", `module "tgz"`, `module "zip"`), lock("x", `module "x"`, `module "tgz"`)),
		row("blocks of one source swapped", refused(`module app.net (app/main.tf:2): the locked version 1.1.0 does not meet the constraint "1.0.0"`), rewritten(), refused("module app.net ("),
			lock("net", `module "net"`, `module "x"`), lock("app.net", `module "app.net"`, `module "net"`), lock("x", `module "x"`, `module "app.net"`)),
		vanished("all blocks removed", rewriteLock(func(s string) string { return s[:strings.Index(s, "\nmodule")] })),
		vanished("empty", put(lockFile, "")),

		broken("two blocks of a key", `Duplicate module block (.terraform.lock.hcl:`, lock("zip", `(?s).*`, "$0\n$0")),
		row("conflict markers", unmerged, conflict, unmerged, lock("zip", `(?m)^  package .*$`, "<<<<<<< HEAD\n$0\n=======\n$0\n>>>>>>> main")),
		broken("truncated in a block", `(.terraform.lock.hcl:`, rewriteLock(func(s string) string { return s[:len(s)-40] })),
		broken("no hashes", `Missing hashes (.terraform.lock.hcl:`, lock("zip", `(?s)  hashes = \[.*?\]\n`, ``)),

		harmless("CRLF", rewriteLock(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })),
		harmless("comment", lock("zip", `(?s).*`, "# a comment\n$0")),
		harmless("unknown scheme beside the others", lock("zip", h1Line, "$0    \"x9:abc\",\n")),
		row("a link to a file that is not named like a lock", refused("does not end like that of a configuration file"), refused("is not a regular file but a symbolic link"), refused("does not end like that of a configuration file"), rename(lockFile, "lock"), link(lockFile, "lock")),
		row("replaced by a directory", refused(".terraform.lock.hcl"), refused(".terraform.lock.hcl"), refused(".terraform.lock.hcl"), drop(lockFile), put(lockFile+"/x", "")),
		row("gone", refused("There is no .terraform.lock.hcl.", "Run `cotter install` on your machine and commit the lock."), healed("Cotter has created a lock file"), refused("there is no lock file .terraform.lock.hcl", "Run `cotter install`"), drop(lockFile)),
	})
}
