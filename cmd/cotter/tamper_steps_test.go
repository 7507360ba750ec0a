package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// step is one change of a site. Its paths are those of locate, in which "*" stands for any name.
type step = func(*testing.T, *site)

// locate returns the location of a path. It is relative to the project, unless it begins with "@cache/", the
// user's cache, or "@state/", the directory of the user's key.
func (s *site) locate(file string) string {
	if rest, ok := strings.CutPrefix(file, "@cache"); ok {
		return filepath.Join(s.cache, rest)
	}
	if rest, ok := strings.CutPrefix(file, "@state"); ok {
		return filepath.Join(s.state, "cotter", rest)
	}
	return filepath.Join(s.project, file)
}

// path returns the path that a pattern matches. The directory must match exactly once; the
// file need not exist.
func (s *site) path(t *testing.T, pattern string) string {
	t.Helper()
	name := s.locate(pattern)
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
	return func(t *testing.T, s *site) {
		t.Helper()
		for _, do := range steps {
			do(t, s)
		}
	}
}

// edit replaces a text, which the file must contain.
func edit(name, old, text string) step {
	return func(t *testing.T, s *site) {
		t.Helper()
		file := s.path(t, name)
		data := readFile(t, file)
		old, text := strings.ReplaceAll(old, "HOST", string(s.world.Host())), strings.ReplaceAll(text, "HOST", string(s.world.Host()))
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s does not have %q:\n%s", name, old, data)
		}
		put(name, strings.Replace(string(data), old, text, 1))(t, s)
	}
}

// put writes a file, and replaces an existing one.
func put(name, text string) step {
	return func(t *testing.T, s *site) {
		t.Helper()
		testenv.WriteFile(t, s.path(t, name), text)
	}
}

// drop removes a file or a directory, which must exist.
func drop(name string) step {
	return func(t *testing.T, s *site) {
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
	return func(t *testing.T, s *site) {
		t.Helper()
		file := s.path(t, name)
		remove(t, file)
		if err := os.Symlink(target, file); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
}

func chmod(name string, mode os.FileMode) step {
	return func(t *testing.T, s *site) {
		t.Helper()
		testenv.Must(t, os.Chmod(s.path(t, name), mode))
	}
}

// rename moves a file or a directory, and replaces an existing one.
func rename(from, to string) step {
	return func(t *testing.T, s *site) {
		t.Helper()
		source, target := s.path(t, from), s.path(t, to)
		remove(t, target)
		testenv.Must(t, os.Rename(source, target))
	}
}

// block returns a module's block of the lock.
func (s *site) block(t *testing.T, key string) string {
	t.Helper()
	text := s.lockText(t)
	found := regexp.MustCompile(`(?s)module "` + regexp.QuoteMeta(key) + `" \{\n.*?\n\}\n`).FindString(text)
	if found == "" {
		t.Fatalf("the lock has no block %q:\n%s", key, text)
	}
	return found
}

// lock replaces the text that a pattern matches in a module's block of the lock. In the
// replacement, HOST stands for the world's host.
func lock(key, pattern, with string) step {
	return func(t *testing.T, s *site) {
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
	return func(t *testing.T, s *site) {
		t.Helper()
		lock(key, pattern, strings.ReplaceAll(regexp.MustCompile(pattern).FindString(s.block(t, from)), "$", "$$"))(t, s)
	}
}
