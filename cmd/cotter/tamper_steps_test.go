package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is one change of a scene. Its paths are relative to the project; "@cache/" stands for
// the cache, and "*" for any name.
type step = func(*testing.T, *scene)

const modules = ".terraform/modules/"

// path returns the path that a pattern matches. The directory must match exactly once; the
// file need not exist.
func (s *scene) path(t *testing.T, pattern string) string {
	t.Helper()
	name, inCache := strings.CutPrefix(pattern, "@cache/")
	name = filepath.Join(s.dir, name)
	if inCache {
		name = filepath.Join(s.cache, strings.TrimPrefix(pattern, "@cache/"))
	}
	if !strings.Contains(pattern, "*") {
		return name
	}
	dir := filepath.Dir(name) // the file may not exist yet
	found, err := filepath.Glob(dir)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d directories are %s, want one: %v", len(found), dir, err)
	}
	return filepath.Join(found[0], filepath.Base(name))
}

func all(steps ...step) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		for _, do := range steps {
			do(t, s)
		}
	}
}

// edit replaces a text, which the file must contain.
func edit(name, old, text string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		file := s.path(t, name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		old, text := strings.ReplaceAll(old, "HOST", string(s.world.Host())), strings.ReplaceAll(text, "HOST", string(s.world.Host()))
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s does not have %q:\n%s", name, old, data)
		}
		put(name, strings.Replace(string(data), old, text, 1))(t, s)
	}
}

// put writes a file, and replaces an existing one.
func put(name, text string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		writeText(t, s.path(t, name), text)
	}
}

// drop removes a file or a directory, which must exist.
func drop(name string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		file := s.path(t, name)
		if _, err := os.Lstat(file); err != nil {
			t.Fatal(err)
		}
		remove(t, file)
	}
}

// link makes a link, and replaces an existing file.
func link(name, target string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		file := s.path(t, name)
		remove(t, file)
		if err := os.Symlink(target, file); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
}

func chmod(name string, mode os.FileMode) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		if err := os.Chmod(s.path(t, name), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// rename moves a file or a directory, and replaces an existing one.
func rename(from, to string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		source, target := s.path(t, from), s.path(t, to)
		remove(t, target)
		if err := os.Rename(source, target); err != nil {
			t.Fatal(err)
		}
	}
}

const lockFile = ".terraform.lock.hcl"

// block returns a module's block of the lock.
func (s *scene) block(t *testing.T, key string) string {
	t.Helper()
	text, err := os.ReadFile(s.path(t, lockFile))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?s)module "` + regexp.QuoteMeta(key) + `" \{\n.*?\n\}\n`).FindString(string(text))
	if found == "" {
		t.Fatalf("the lock has no block %q:\n%s", key, text)
	}
	return found
}

// lock replaces the text that a pattern matches in a module's block of the lock. In the
// replacement, HOST stands for the world's host.
func lock(key, pattern, with string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		old := s.block(t, key)
		text := regexp.MustCompile(pattern).ReplaceAllString(old, strings.ReplaceAll(with, "HOST", string(s.world.Host())))
		if text == old {
			t.Fatalf("nothing in the block matches %s:\n%s", pattern, old)
		}
		edit(lockFile, old, text)(t, s)
	}
}

// take replaces the text that a pattern matches in a module's block of the lock by the
// matching text in another module's block.
func take(key, from, pattern string) step {
	return func(t *testing.T, s *scene) {
		t.Helper()
		lock(key, pattern, strings.ReplaceAll(regexp.MustCompile(pattern).FindString(s.block(t, from)), "$", "$$"))(t, s)
	}
}
