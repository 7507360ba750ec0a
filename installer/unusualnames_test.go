package installer_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// diskTree is a directory on disk as the tree of a world. It can have names that are not valid UTF-8.
type diskTree struct {
	pathsafe.RootFS
	dir string
}

func openDiskTree(dir string) (diskTree, error) {
	root, err := os.OpenRoot(dir)
	return diskTree{pathsafe.FS(root), dir}, err
}

func (t diskTree) Sub(dir string) (fs.FS, error) { return openDiskTree(filepath.Join(t.dir, dir)) }

// unusualNames are in the directory of the called module, and above it.
var unusualNames = []string{
	`run-x\x2dy.mount`, "Icon\r", "caf\xe9/caf\xe9", "\xff", "\u202egnp.exe", "\ufeffx", "a\tb", "\x1b[2J", "a\u0085", "--help", "-rf", "dot.", "blank ",
	"aux.txt", `"quoted"`, "a:b?", "::add-mask::x", strings.Repeat("n", 255), "é", "e\u0301",
}

// The origins of a package agree on its hash, whatever its names are. It is installed in both layouts with one
// warning, verified, and installed from the lock on another machine. A stock tool installs the same files.
func TestUnusualNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the file systems of this system do not store all names")
	}
	top, plain := t.TempDir(), t.TempDir()
	for _, at := range []string{"git/net.git/v1.0.0", "archives/net.zip", "archives/net.tar.gz", "oci/net/1.0.0", ""} {
		dir := filepath.Join(top, at)
		if at == "" {
			dir = plain
		}
		testenv.WriteFiles(t, dir, map[string]string{"main.tf": "# root\n", "modules/net/main.tf": "# net\n"})
		for _, below := range []string{"", "modules/net/"} {
			for _, name := range unusualNames {
				testenv.WriteFile(t, filepath.Join(dir, below+name), name)
			}
			testenv.WriteFile(t, filepath.Join(dir, below+"x\\y\xe9.tf"), "module \"inner\" {\n  source = \"./inner\"\n}\n")
			testenv.WriteFile(t, filepath.Join(dir, below+"inner/main.tf"), "# inner\n")
			testenv.Must(t, os.Symlink("./Icon\r", filepath.Join(dir, below+"to\xe9")))
			testenv.Must(t, os.Symlink("caf\xe9", filepath.Join(dir, below+`to\dir`)))
		}
	}
	testenv.WriteFile(t, filepath.Join(top, "config/README.md"), "")
	tree, err := openDiskTree(top)
	testenv.Must(t, err)
	p := &project{world: modtest.NewWith(t, tree, modtest.Options{}), dir: t.TempDir(), state: t.TempDir()}
	want, err := hashing.Dir(t.Context(), plain)
	testenv.Must(t, err)
	for origin, address := range map[string]func(subdir string) string{
		"git":    func(subdir string) string { return p.world.GitSource("net.git", subdir+"?ref=v1.0.0") },
		"zip":    func(subdir string) string { return p.world.ArchiveSource("net.zip", subdir) },
		"tar.gz": func(subdir string) string { return p.world.ArchiveSource("net.tar.gz", subdir) },
		"oci":    func(subdir string) string { return p.world.OCISource("net", subdir+"?tag=1.0.0") },
	} {
		for _, layout := range []installer.Layout{installer.LayoutLinks, installer.LayoutCopy} {
			for _, subdir := range []string{"//modules/net", ""} {
				what := fmt.Sprint(origin, subdir, " ", layout)
				one := &project{world: p.world, dir: t.TempDir(), state: t.TempDir()}
				one.write(t, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", address(subdir)))
				req := request{Project: installer.Project{Layout: layout}}
				result := one.mustInstall(t, req)
				if len(slices.Collect(result.All())) != 3 {
					t.Errorf("%s: the call in the file with an unusual name was not read", what)
				}
				if n := strings.Count(one.events(), "cannot be installed on every system"); n != 1 || strings.Contains(one.events(), "left out") {
					t.Errorf("%s: %d warnings about names, want 1, and no other:\n%s", what, n, one.events())
				}
				if lock := one.file(".terraform.lock.hcl"); !strings.Contains(lock, string(want)) {
					t.Errorf("%s: the lock does not have %s:\n%s", what, want, lock)
				}
				one.mustVerify(t, request{Project: installer.Project{Dir: one.dir, Layout: layout}})
				one.checkNamesChanged(t, what, subdir, layout)
				testenv.Must(t, os.RemoveAll(filepath.Join(one.dir, ".terraform")))
				req.Locked = true
				one.mustInstall(t, req)
				installed := filepath.Join(one.dir, ".terraform/modules/net")
				if got, err := hashing.Dir(t.Context(), filepath.Join(installed, subdir)); layout == installer.LayoutCopy && subdir == "" && got != want {
					t.Errorf("%s: the installed package has %s, %v, want %s", what, got, err, want)
				}
				if diff := cmp.Diff(regularFiles(t, filepath.Join(plain, subdir)), regularFiles(t, filepath.Join(installed, subdir))); diff != "" {
					t.Errorf("%s: files of the module (-want +got):\n%s", what, diff)
				}
			}
		}
	}
	for dialect, binary := range stockTools(t) {
		stock := &project{world: p.world, dir: t.TempDir(), state: t.TempDir()}
		stock.write(t, "main.tf", fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", p.world.GitSource("net.git", "?ref=v1.0.0")))
		stock.stock(t, binary, "init", "-backend=false")
		if got, err := hashing.Dir(t.Context(), filepath.Join(stock.dir, ".terraform/modules/net")); got != want {
			t.Errorf("%s installs %s, %v, want %s", dialect, got, err, want)
		}
	}
}

// checkNamesChanged changes files with unusual names, which verify must name and an installation restore.
func (p *project) checkNamesChanged(t *testing.T, what, subdir string, layout installer.Layout) {
	t.Helper()
	below := strings.TrimPrefix(subdir+"/", "/")
	below = strings.TrimPrefix(below, "/")
	dir := filepath.Join(p.dir, ".terraform/modules/net", below)
	testenv.WriteFile(t, filepath.Join(dir, "caf\xe9/caf\xe9"), "changed")
	testenv.Must(t, os.Remove(filepath.Join(dir, "Icon\r")))
	report, err := p.installer().Verify(t.Context(), installer.Project{Dir: p.dir, Layout: layout}, installer.VerifyOptions{})
	testenv.Must(t, err)
	changes := report.Packages[0].Changes
	if !slices.Contains(changes.Changed, below+"caf\xe9/caf\xe9") || !slices.Contains(changes.Vanished, below+"Icon\r") {
		t.Errorf("%s: verify reports %q", what, changes)
	}
	p.mustInstall(t, request{Project: installer.Project{Layout: layout}})
	if text, err := os.ReadFile(filepath.Join(dir, "Icon\r")); err != nil || string(text) != "Icon\r" {
		t.Errorf("%s: not restored: %q, %v", what, text, err)
	}
}

func regularFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	testenv.Must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(name)
		found[strings.TrimPrefix(name, dir)] = string(text)
		return err
	}))
	if len(found) == 0 {
		testenv.Must(t, errors.New("there are no files"))
	}
	return found
}
