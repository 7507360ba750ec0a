//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRestoredCache uses caches of other machines, as build servers restore them. A package
// in such a cache is trusted by its hash; confirmations and cached answers are not trusted.
func TestRestoredCache(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	evil := s.attack(t, func(a *attacker) { a.installAll(t) })
	t.Run("of a friend", func(t *testing.T) {
		s.reset(t, false)
		dropInstalled(t, s)
		remove(t, s.state)
		end := s.run("install --locked")
		if end.status != 0 {
			t.Errorf("status %d", end.status)
		}
		for _, origin := range s.unasked() {
			t.Errorf("success without a question to %s", origin)
		}
		if diff := differing(s.good, pictured(t, s.project, isBookkeeping)); diff != "" {
			t.Errorf("other files than those of the origins (-good +after):\n%s", diff)
		}
		if t.Failed() {
			t.Log(end.out)
		}
	})
	t.Run("of an attacker, with an edited lock", func(t *testing.T) {
		s.clone(t, func() { writeText(t, filepath.Join(s.project, lockFile), string(evil.lock)) })
		if err := copyTree(s.cache, evil.cache, false); err != nil {
			t.Fatal(err)
		}
		end := s.run("install --locked")
		if end.status != 1 || !strings.Contains(end.out, "module zip (main.tf:") {
			t.Errorf("status %d, want 1 and the module that its origin does not confirm:\n%s", end.status, end.out)
		}
		if _, err := os.Lstat(filepath.Join(s.project, ".terraform/modules/zip")); err == nil {
			t.Errorf("the package that no origin has was installed")
		}
	})
}

// TestForgedAnswers edits the cached answers of earlier fetches so that an address points to
// another package, which is also in the cache. A first installation has no lock to compare
// the package with.
func TestForgedAnswers(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	s.reset(t, false)
	hash := func(project, key string) string {
		block := (&scene{dir: project}).block(t, key)
		return regexp.MustCompile(`t1:[^"]*`).FindString(block)
	}
	hostileStates["new"](t, s)
	if err := copyTree(filepath.Join(s.cache, "tree"), filepath.Join(s.other, "cache/tree"), false); err != nil {
		t.Fatal(err)
	}
	edits := 0
	for _, answer := range s.targets(t, "@cache/fetch/<hex>.json") {
		text := string(readFile(t, answer.path))
		for _, key := range []string{"net", "dns", "zip"} {
			forged := strings.ReplaceAll(text, hash(filepath.Join(s.saved, "project"), key), hash(filepath.Join(s.other, "project"), key))
			if forged != text {
				edits++
				writeText(t, answer.path, forged)
			}
		}
	}
	if edits < 3 {
		t.Errorf("%d answers have the hashes of packages, want 3", edits)
	}
	end := s.run("install")
	if end.status != 0 {
		t.Errorf("status %d", end.status)
	}
	if diff := differing(s.good, pictured(t, s.project, isBookkeeping)); diff != "" {
		t.Errorf("other files than those of the origins (-good +after):\n%s", diff)
	}
	if t.Failed() {
		t.Log(end.out)
	}
}

// TestHostileGitConfig adds settings to the cache's git objects that would make git contact
// another repository or run a program.
func TestHostileGitConfig(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	host, ran := "https://"+string(s.world.Host())+"/git/", filepath.Join(s.outside, "ran")
	for name, config := range map[string]string{
		"another repository": fmt.Sprintf("[url %q]\n\tinsteadOf = %s\n", host+"evil.git", host+"mono.git"),
		"a program":          fmt.Sprintf("[protocol \"ext\"]\n\tallow = always\n[url \"ext::touch %s \"]\n\tinsteadOf = https://\n", ran),
		"a monitor":          fmt.Sprintf("[core]\n\tfsmonitor = touch %s\n\talternateRefsCommand = touch %[1]s\n\thooksPath = %s\n", ran, s.outside),
		"an include":         "[include]\n\tpath = " + filepath.Join(s.outside, "config") + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			s.reset(t, true)
			hostileStates["new"](t, s)
			for _, dir := range []string{"tree", "fetch", "confirmed"} {
				remove(t, s.locate("@cache/"+dir))
			}
			writeText(t, filepath.Join(s.outside, "config"), fmt.Sprintf("[url %q]\n\tinsteadOf = %s\n", host+"evil.git", host+"mono.git"))
			for _, dir := range s.targets(t, "@cache/git/<hex>/") {
				writeText(t, filepath.Join(dir.path, "HEAD"), "ref: refs/heads/main\n")
				writeText(t, filepath.Join(dir.path, "config"), config)
			}
			end := s.run("install", installedGit...)
			if _, err := os.Lstat(ran); err == nil {
				remove(t, ran)
				t.Errorf("a program ran that the cache's configuration names")
			}
			if end.status != 0 && !strings.Contains(end.out, "git") {
				t.Errorf("status %d, and the message does not say why", end.status)
			}
			if diff := differing(s.good, pictured(t, s.project, isBookkeeping)); end.status == 0 && diff != "" {
				t.Errorf("other files than those of the origins (-good +after):\n%s", diff)
			}
			if t.Failed() {
				t.Log(end.out)
			}
		})
	}
}
