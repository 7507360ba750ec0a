package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
)

// testCase is one task for a program, with the expected result.
type testCase struct {
	name  string // such as "hash trees/plain"
	verb  string // "hash", "parse", "edit" or "select"
	files []txtar.File

	tree    tree     // for hash
	refused bool     // the program must refuse the input
	hashes  []string // for hash: the expected hashes, one for each scheme
}

// file returns the content of one of the case's files, or nil if there is no such file.
func (c *testCase) file(name string) []byte {
	for _, f := range c.files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// readKit reads all cases of a kit: by verb, and within a folder in the order of their
// names. The locks that a program must refuse follow; each file of their archives is a lock.
func readKit(kit fs.FS) ([]*testCase, error) {
	var all []*testCase
	for _, folder := range []struct{ name, verb string }{
		{"trees", "hash"}, {"refused-trees", "hash"}, {"locks", "parse"}, {"edits", "edit"}, {"selections", "select"},
	} {
		names, err := fs.Glob(kit, folder.name+"/*.txtar")
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("there are no cases in the directory %s", folder.name)
		}
		for _, name := range names {
			archive, err := readArchive(kit, name)
			if err != nil {
				return nil, err
			}
			base := strings.TrimSuffix(path.Base(name), ".txtar")
			c := &testCase{name: folder.verb + " " + folder.name + "/" + base, verb: folder.verb, files: archive.Files}
			if folder.verb == "hash" {
				if err := c.readTree(archive); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				c.refused = folder.name == "refused-trees"
			}
			all = append(all, c)
		}
	}
	for _, locks := range []struct{ name, verb, file string }{
		{"invalid-locks", "parse", "lock.hcl"}, {"refused-provider-locks", "select", "before.hcl"},
	} {
		archive, err := readArchive(kit, locks.name+".txtar")
		if err != nil {
			return nil, err
		}
		for _, f := range archive.Files {
			name := locks.verb + " " + locks.name + "/" + strings.TrimSuffix(f.Name, ".hcl")
			files := []txtar.File{{Name: locks.file, Data: f.Data}, {Name: "select.json", Data: []byte(`{"providers": []}`)}}
			all = append(all, &testCase{name: name, verb: locks.verb, refused: true, files: files})
		}
	}
	return all, nil
}

func readArchive(kit fs.FS, name string) (*txtar.Archive, error) {
	text, err := fs.ReadFile(kit, name)
	if err != nil {
		return nil, err
	}
	return txtar.Parse(text), nil
}

// tree has the properties of a module tree that a txtar archive cannot express.
type tree struct {
	executable []string    // the names of executable files
	links      [][2]string // the path and the target of each symbolic link
	dirs       []string
	linuxOnly  bool // other file systems cannot hold these names in one directory
}

func (c *testCase) readTree(archive *txtar.Archive) error {
	for line := range strings.Lines(string(archive.Comment)) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "h1", "t1":
			c.hashes = append(c.hashes, line)
		case "name":
			was, quoted, _ := strings.Cut(value, " = ")
			name, err := strconv.Unquote(quoted)
			i := slices.IndexFunc(c.files, func(f txtar.File) bool { return f.Name == was })
			if err != nil || i < 0 {
				return fmt.Errorf("there is no file for the line %q", line)
			}
			c.files[i].Name = name
		case "exec":
			c.tree.executable = append(c.tree.executable, value)
		case "dir":
			c.tree.dirs = append(c.tree.dirs, value)
		case "link":
			path, target, _ := strings.Cut(value, " -> ")
			c.tree.links = append(c.tree.links, [2]string{path, target})
		case "linux":
			c.tree.linuxOnly = true
		}
	}
	return nil
}

// fits reports whether the file systems of this operating system can hold the tree.
func (t *tree) fits() bool {
	switch runtime.GOOS {
	case "linux":
		return true
	case "windows":
		return !t.linuxOnly && len(t.links)+len(t.executable) == 0
	}
	return !t.linuxOnly
}

func (c *testCase) writeTree(dir string) error {
	var errs []error
	path := func(name string) string {
		full := filepath.Join(dir, filepath.FromSlash(name))
		errs = append(errs, os.MkdirAll(filepath.Dir(full), 0o755))
		return full
	}
	for _, f := range c.files {
		mode := os.FileMode(0o644)
		if slices.Contains(c.tree.executable, f.Name) {
			mode = 0o755
		}
		errs = append(errs, os.WriteFile(path(f.Name), f.Data, mode))
	}
	for _, name := range c.tree.dirs {
		errs = append(errs, os.MkdirAll(path(name), 0o755))
	}
	for _, link := range c.tree.links {
		errs = append(errs, os.Symlink(link[1], path(link[0])))
	}
	return errors.Join(errs...)
}
