//go:build linux || darwin

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/testenv"
)

// replacement puts something else in the place of a file or directory.
type replacement struct {
	name string
	put  func(t *testing.T, s *hostileSite, target hostileTarget)
}

// hostileTarget is the file or directory that is replaced.
type hostileTarget struct {
	path string
	dir  bool   // whether a directory belongs there
	twin string // the same file of another project; "" if it has no such file
	deep bool   // whether it is not above the installed modules, so that a link may point to one
}

// hugeSize is the size of a sparse file, more than users can allow; it takes no space unless it is read.
const hugeSize = packagelimits.MaxBytes + 1

// nobody is the ID of a user who owns no files here.
const nobody = 65534

// replacements are the columns of hostileTable.
var replacements = []replacement{
	{"absent", func(*testing.T, *hostileSite, hostileTarget) {}},
	{"empty", func(t *testing.T, _ *hostileSite, to hostileTarget) { testenv.WriteFile(t, to.path, "") }},
	{"garbage", func(t *testing.T, _ *hostileSite, to hostileTarget) {
		testenv.WriteFile(t, to.path, "\x00\xff{[<garbage>\n"+strings.Repeat("garbage ", 100))
	}},
	{"huge", func(t *testing.T, _ *hostileSite, to hostileTarget) {
		testenv.WriteFile(t, to.path, "")
		testenv.Must(t, os.Truncate(to.path, hugeSize))
	}},
	{"fifo", func(t *testing.T, _ *hostileSite, to hostileTarget) { makeFIFO(t, to.path) }},
	{"inside", func(t *testing.T, s *hostileSite, to hostileTarget) {
		switch {
		case !to.dir:
			makeLink(t, filepath.Join(s.project, "main.tf"), to.path)
		case to.deep:
			makeLink(t, filepath.Join(s.project, ".terraform/modules/zip"), to.path)
		default:
			makeLink(t, filepath.Join(s.project, "app"), to.path)
		}
	}},
	{"outside", func(t *testing.T, s *hostileSite, to hostileTarget) {
		if to.dir {
			makeLink(t, filepath.Join(s.outside, "dir"), to.path)
		} else {
			makeLink(t, filepath.Join(s.outside, "file"), to.path)
		}
	}},
	{"dangling", func(t *testing.T, s *hostileSite, to hostileTarget) {
		makeLink(t, filepath.Join(s.outside, "nothing"), to.path)
	}},
	{"dir", func(t *testing.T, _ *hostileSite, to hostileTarget) {
		testenv.Must(t, os.MkdirAll(to.path, 0o755))
		if !to.dir {
			testenv.WriteFile(t, filepath.Join(to.path, "main.tf"), "# not of any origin\n")
		}
	}},
	{"user", func(t *testing.T, _ *hostileSite, to hostileTarget) {
		if os.Getuid() != 0 {
			t.Skip("only root can give files to another user")
		}
		if _, err := os.Lstat(to.path); err != nil {
			t.Fatalf("an installation makes no %s", to.path)
		}
		err := filepath.WalkDir(to.path, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(name, nobody, nobody))
		})
		testenv.Must(t, err)
	}},
	{"other", func(t *testing.T, _ *hostileSite, to hostileTarget) {
		testenv.Must(t, copyTree(to.path, to.twin))
	}},
}

func makeFIFO(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, syscall.Mkfifo(name, 0o644))
}

func makeLink(t *testing.T, target, name string) {
	t.Helper()
	testenv.Must(t, os.Symlink(target, name))
}

// targets returns the files that match a path of the table.
func (s *hostileSite) targets(t *testing.T, file string) []hostileTarget {
	t.Helper()
	pattern := strings.NewReplacer("<hex>.", "*.", "<hex>", "*[0-9a-f]", "<name>", "*").Replace(strings.TrimSuffix(file, "/"))
	found, twins := []string{s.locate(pattern)}, []string{s.other.locate(pattern)}
	if strings.Contains(pattern, "*") {
		var err, twinErr error
		found, err = filepath.Glob(found[0])
		twins, twinErr = filepath.Glob(twins[0])
		if err != nil || twinErr != nil || len(found) == 0 {
			t.Fatalf("no files are %s: %v, %v", file, err, twinErr)
		}
	}
	var targets []hostileTarget
	for i, path := range found {
		target := hostileTarget{path: path, dir: strings.HasSuffix(file, "/"), deep: strings.Count(file, "/") > 2 || file[0] == '@'}
		if len(twins) > 0 {
			target.twin = twins[i%len(twins)]
		}
		targets = append(targets, target)
	}
	return targets
}

func (s *hostileSite) replace(t *testing.T, file string, with replacement) []hostileTarget {
	t.Helper()
	targets := s.targets(t, file)
	for _, target := range targets {
		if with.name != "user" { // that replacement keeps the files
			remove(t, target.path)
		}
		if with.name == "absent" {
			continue
		}
		testenv.Must(t, os.MkdirAll(filepath.Dir(target.path), 0o755))
		with.put(t, s, target)
	}
	return targets
}
