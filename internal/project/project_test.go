package project_test

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
)

const lockName = ".terraform.lock.hcl"

type at struct {
	dir string
	key *userkey.Key
	// elsewhere is the location if it is not the usual one.
	elsewhere *project.Location
	// outside is a directory that has the lock and the modules directory instead of dir, or "".
	outside string
}

func newAt(t testing.TB) at {
	t.Helper()
	return at{dir: t.TempDir(), key: userkey.Random()}
}

func (a at) location() project.Location {
	if a.elsewhere != nil {
		return *a.elsewhere
	}
	location := project.Location{Dir: a.dir, DataDir: filepath.Join(a.dir, ".terraform"), LockFile: lockName}
	if a.outside != "" {
		location.ModulesDir, location.LockFile = filepath.Join(a.outside, modules), filepath.Join(a.outside, lockName)
	}
	return location
}

func (a at) top() string { return cmp.Or(a.outside, a.dir) }

func (a at) open(t testing.TB) *project.Project {
	t.Helper()
	p, err := project.Open(context.Background(), a.location(), a.key, nil)
	testenv.Must(t, err)
	return p
}

func (a at) write(t testing.TB, name, text string) {
	t.Helper()
	testenv.WriteFile(t, filepath.Join(a.dir, filepath.FromSlash(name)), text)
}

func change(t testing.TB, p *project.Project, packages map[string]string, gone ...string) project.Change {
	t.Helper()
	c := project.Change{
		Packages: map[string]string{}, Trees: map[string]string{"sharedtree": stage(t, p, "@sharedtree", "# tree\n")}, Gone: gone,
		NewLock: []byte("new lock\n"), Manifest: []byte("new manifest"),
	}
	for key, text := range packages {
		c.Packages[key] = stage(t, p, key, text)
	}
	return c
}

func stage(t testing.TB, p *project.Project, name, text string) string {
	t.Helper()
	_, err := p.Stage()
	testenv.Must(t, err)
	staged := p.StagePath(name)
	testenv.Must(t, os.Mkdir(staged, 0o755))
	testenv.Must(t, os.WriteFile(filepath.Join(staged, "main.tf"), []byte(text), 0o644))
	return staged
}

// files returns the project's files with their content, without seals and links. Without own, the
// files of .cotter are left out.
func (a at) files(t testing.TB, own bool) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(a.top(), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".cotter" && !own {
			return fs.SkipDir
		}
		if entry.IsDir() || entry.Type() == fs.ModeSymlink || a.outside != "" && strings.HasSuffix(name, ".tmp") {
			return nil // beside a lock elsewhere, the temporary file may be that of another project
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(a.top(), name)
		if _, unsealed, sealed := strings.Cut(string(text), "\n"); sealed && strings.HasPrefix(string(text), "# cotter-proof") {
			text = []byte(unsealed)
		}
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	testenv.Must(t, err)
	return files
}

const modules = ".terraform/modules/"

var (
	before = map[string]string{
		lockName:                        "old lock\n",
		modules + "a/main.tf":           "# old\n",
		modules + "gone/main.tf":        "# gone\n",
		modules + "modules.json":        "old manifest",
		modules + ".cotter/lock":        "",
		modules + ".cotter/lock.hcl":    "# confirmed 0\n# addresses 0\nold lock\n",
		modules + ".cotter/sums/t1-abc": "sums",
	}
	after = map[string]string{
		lockName:                                    "new lock\n",
		modules + "a/main.tf":                       "# a\n",
		modules + "b/main.tf":                       "# b\n",
		modules + "modules.json":                    "new manifest",
		modules + ".cotter/lock":                    "",
		modules + ".cotter/lock.hcl":                "# confirmed 0\n# addresses 0\nnew lock\n",
		modules + ".cotter/sums/t1-abc":             "sums",
		modules + ".cotter/tree/sharedtree/main.tf": "# tree\n",
	}
)

func start(t testing.TB) at {
	t.Helper()
	return newAt(t).filled(t)
}

func (a at) filled(t testing.TB) at {
	t.Helper()
	p := a.open(t)
	c := change(t, p, map[string]string{"a": "# old\n", "gone": "# gone\n"})
	c.NewLock, c.Manifest, c.Trees = []byte("old lock\n"), []byte("old manifest"), nil
	testenv.Must(t, errors.Join(p.SaveSums("t1-abc", []byte("sums")), p.Commit(c), p.Close()))
	if diff := gocmp.Diff(before, a.files(t, true)); diff != "" {
		t.Fatalf("the project of the tests (-want +got):\n%s", diff)
	}
	return a
}

func (a at) theChange(t testing.TB, p *project.Project) project.Change {
	t.Helper()
	c := change(t, p, map[string]string{"a": "# a\n", "b": "# b\n"}, "gone")
	c.OldLock = []byte("old lock\n")
	return c
}

func TestCommit(t *testing.T) {
	t.Parallel()
	a := start(t)
	p := a.open(t)
	testenv.Must(t, errors.Join(p.Commit(a.theChange(t, p)), p.Close()))
	if diff := gocmp.Diff(after, a.files(t, true)); diff != "" {
		t.Errorf("after Commit (-want +got):\n%s", diff)
	}
}

func TestLockChangedInBetween(t *testing.T) {
	t.Parallel()
	a := start(t)
	p := a.open(t)
	c := a.theChange(t, p)
	c.OldLock = []byte("what was read\n")
	if err := p.Commit(c); !errors.Is(err, project.ErrLockChanged) {
		t.Errorf("Commit = %v, want ErrLockChanged", err)
	}
	testenv.Must(t, p.Close())
	if diff := gocmp.Diff(before, a.files(t, true)); diff != "" {
		t.Errorf("after a refused Commit (-before +after):\n%s", diff)
	}
}

func TestOpenRefusesLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".terraform", ".terraform/modules", ".terraform/modules/.cotter"} {
		a := newAt(t)
		victim := t.TempDir()
		name := filepath.Join(a.dir, filepath.FromSlash(link))
		testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		testenv.Must(t, os.Symlink(victim, name))
		if _, err := project.Open(t.Context(), a.location(), a.key, nil); err == nil {
			t.Errorf("Open with %s as a link succeeded", link)
		}
		if entries, _ := os.ReadDir(victim); len(entries) > 0 {
			t.Errorf("Open with %s as a link wrote to its target: %v", link, entries)
		}
	}
}

// Links that have the name of one of Cotter's files or directories are removed and not followed.
func TestOpenRemovesIrregularFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lock", "journal", "lock.hcl", "stage", "retired", "tree", "sums"} {
		a := newAt(t)
		victim := t.TempDir()
		testenv.Must(t, os.WriteFile(filepath.Join(victim, "precious"), nil, 0o600))
		own := filepath.Join(a.dir, modules, ".cotter")
		testenv.Must(t, os.MkdirAll(own, 0o755))
		for _, target := range []string{victim, filepath.Join(victim, "absent")} {
			testenv.Must(t, os.Symlink(target, filepath.Join(own, name)))
			p := a.open(t)
			testenv.Must(t, errors.Join(p.SaveSums("x", []byte("y")), p.KeepSums(nil), p.KeepTrees(nil), p.Close()))
			entries, err := os.ReadDir(victim)
			if err != nil || len(entries) != 1 || entries[0].Name() != "precious" {
				t.Errorf("with a link as %s, its target has %v, %v", name, entries, err)
			}
			testenv.Must(t, os.RemoveAll(filepath.Join(own, name)))
		}
	}
}

func TestOpenWaits(t *testing.T) {
	t.Parallel()
	a := newAt(t)
	// Even with different data directories, the projects share the lock file.
	elsewhere := a.location()
	elsewhere.DataDir = filepath.Join(t.TempDir(), "missing", "data")
	for _, location := range []project.Location{a.location(), elsewhere} {
		first := a.open(t)
		waiting := make(chan struct{})
		opened := make(chan error)
		go func() {
			second, err := project.Open(context.Background(), location, a.key, func() { close(waiting) })
			if err == nil {
				err = second.Close()
			}
			opened <- err
		}()
		<-waiting
		testenv.Must(t, first.Close())
		if err := <-opened; err != nil {
			t.Errorf("Open after waiting: %v", err)
		}
	}
	first := a.open(t)
	defer first.Close()
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := project.Open(ctx, a.location(), a.key, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a canceled context = %v, want context.Canceled", err)
	}
}

// A process that installs nothing removes the directories that it has created.
func TestNothingInstalled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove a lock that is open")
	}
	for name, test := range map[string]struct{ dataDir, before, during string }{
		"new project":           {dataDir: ".terraform"},
		"new data directory":    {dataDir: "new/data"},
		"old data directory":    {dataDir: ".terraform", before: ".terraform/providers/x"},
		"old modules directory": {dataDir: ".terraform", before: ".terraform/modules/x/main.tf"},
		"opened before":         {dataDir: ".terraform", before: ".terraform/modules/.cotter/lock"},
		"another tool":          {dataDir: ".terraform", during: ".terraform/modules/x/main.tf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAt(t)
			a.elsewhere = &project.Location{Dir: a.dir, DataDir: filepath.Join(a.dir, filepath.FromSlash(test.dataDir)), LockFile: lockName}
			if test.before != "" {
				a.write(t, test.before, "")
			}
			before := dirs(t, a.dir)
			p := a.open(t)
			stage(t, p, "a", "# a\n")
			testenv.Must(t, p.SaveSums("t1-abc", []byte("sums")))
			if test.during != "" {
				a.write(t, test.during, "")
			}
			testenv.Must(t, p.Close())
			kept := test.during != "" || strings.HasPrefix(test.before, ".terraform/modules")
			if diff := gocmp.Diff(before, dirs(t, a.dir)); diff != "" && !kept {
				t.Errorf("(-before +after):\n%s", diff)
			}
			for _, file := range []string{test.before, test.during} {
				if _, err := os.Stat(filepath.Join(a.dir, filepath.FromSlash(file))); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func dirs(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	})
	testenv.Must(t, err)
	return names
}

// A process that waits for a lock that is removed with its directory creates both again. Only
// processes of two projects with the same data directory wait there.
func TestNothingInstalledWhileWaiting(t *testing.T) {
	t.Parallel()
	a, other := newAt(t), newAt(t)
	other.elsewhere = &project.Location{Dir: other.dir, DataDir: a.location().DataDir, LockFile: lockName}
	first := a.open(t)
	waiting, opened := make(chan struct{}), make(chan error)
	go func() {
		second, err := project.Open(context.Background(), other.location(), other.key, sync.OnceFunc(func() { close(waiting) }))
		if err == nil {
			err = errors.Join(second.Commit(project.Change{NewLock: []byte("new lock\n"), Manifest: []byte("manifest")}), second.Close())
		}
		opened <- err
	}()
	<-waiting
	testenv.Must(t, first.Close())
	testenv.Must(t, <-opened)
	text, err := os.ReadFile(filepath.Join(a.dir, modules, "modules.json"))
	if err != nil || string(text) != "manifest" {
		t.Errorf("modules.json has %q, %v", text, err)
	}
}

func TestPackageRefusesLinks(t *testing.T) {
	t.Parallel()
	a := newAt(t)
	p := a.open(t)
	defer p.Close()
	testenv.Must(t, os.Symlink(t.TempDir(), filepath.Join(a.dir, modules, "a")))
	if _, err := p.Package("a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Package of a link = %v, want an error", err)
	}
	if _, err := p.Package("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Package of nothing = %v, want fs.ErrNotExist", err)
	}
}
