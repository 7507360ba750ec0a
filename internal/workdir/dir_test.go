package workdir_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/workdir"
)

const lockName = ".terraform.lock.hcl"

// project is a project directory in a test.
type project struct {
	dir  string
	root *os.Root
}

func newProject(t *testing.T) project {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return project{dir, root}
}

func (p project) open(t *testing.T) *workdir.Dir {
	t.Helper()
	d, err := workdir.Open(context.Background(), filepath.Join(p.dir, ".terraform"), workdir.Files{Project: p.root, LockFile: lockName}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// change stages a package for each key and describes the change that places
// them.
func change(t *testing.T, d *workdir.Dir, packages map[string]string, gone ...string) workdir.Change {
	t.Helper()
	c := workdir.Change{Staged: map[string]string{}, Gone: gone, NewLock: []byte("new lock\n"), Manifest: []byte("new manifest")}
	for key, text := range packages {
		staged := d.Stage(key)
		if err := os.Mkdir(staged, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(staged, "main.tf"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c.Staged[key] = staged
	}
	return c
}

// visible is what stock tools see of a project.
func (p project) visible(t *testing.T) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := fs.WalkDir(p.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.Name() == ".cotter" {
			return fs.SkipDir
		}
		if entry.IsDir() {
			return nil
		}
		text, err := p.root.ReadFile(name)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var afterChange = map[string]string{
	lockName:                          "new lock\n",
	".terraform/modules/a/main.tf":    "# a\n",
	".terraform/modules/b/main.tf":    "# b\n",
	".terraform/modules/modules.json": "new manifest",
}

// start installs what the changes of the tests begin with.
func (p project) start(t *testing.T) {
	t.Helper()
	d := p.open(t)
	c := change(t, d, map[string]string{"a": "# old\n", "gone": "# gone\n"})
	c.NewLock, c.Manifest = []byte("old lock\n"), []byte("old manifest")
	if err := d.Commit(c); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.start(t)
	d := p.open(t)
	c := change(t, d, map[string]string{"a": "# a\n", "b": "# b\n"}, "gone")
	c.OldLock = []byte("old lock\n")
	if err := d.Commit(c); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(afterChange, p.visible(t)); diff != "" {
		t.Errorf("after Commit (-want +got):\n%s", diff)
	}
	leftovers, err := filepath.Glob(filepath.Join(p.dir, ".terraform/modules/.cotter/[stj][tro]*/*"))
	if err != nil || len(leftovers) > 0 {
		t.Errorf("leftovers: %v, %v", leftovers, err)
	}
}

// A process that is killed after any step of a change leaves a directory that
// the next one brings to the end of the change.
func TestCrashAtEveryStep(t *testing.T) {
	t.Parallel()
	for steps, more := 0, true; more; steps++ {
		p := newProject(t)
		p.start(t)
		d := p.open(t)
		c := change(t, d, map[string]string{"a": "# a\n", "b": "# b\n"}, "gone")
		c.OldLock = []byte("old lock\n")
		var err error
		if more, err = d.CommitPartly(c, steps); err != nil {
			t.Fatal(err)
		}
		// The lock on the directory goes with the process; the stage stays.
		if err := d.Abandon(); err != nil {
			t.Fatal(err)
		}
		if more && !d.Unfinished() {
			t.Errorf("after %d steps: Unfinished() = false", steps)
		}
		if err := p.open(t).Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(afterChange, p.visible(t)); diff != "" {
			t.Errorf("after %d steps and a new start (-want +got):\n%s", steps, diff)
		}
	}
}

func TestLockChangedInBetween(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.start(t)
	before := p.visible(t)
	d := p.open(t)
	defer d.Close()
	c := change(t, d, map[string]string{"a": "# a\n"})
	c.OldLock = []byte("what was read\n")
	if err := d.Commit(c); !errors.Is(err, workdir.ErrLockChanged) {
		t.Errorf("Commit = %v, want ErrLockChanged", err)
	}
	if diff := cmp.Diff(before, p.visible(t)); diff != "" {
		t.Errorf("after a refused Commit (-before +after):\n%s", diff)
	}
}

func TestOpenRefusesLinks(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".terraform", ".terraform/modules", ".terraform/modules/.cotter"} {
		p := newProject(t)
		victim := t.TempDir()
		name := filepath.Join(p.dir, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(victim, name); err != nil {
			t.Fatal(err)
		}
		_, err := workdir.Open(context.Background(), filepath.Join(p.dir, ".terraform"), workdir.Files{Project: p.root, LockFile: lockName}, nil)
		if err == nil {
			t.Errorf("Open with %s as a link succeeded", link)
		}
		if entries, _ := os.ReadDir(victim); len(entries) > 0 {
			t.Errorf("Open with %s as a link wrote to where it leads: %v", link, entries)
		}
	}
}

func TestOpenWaits(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	first := p.open(t)
	waiting := make(chan struct{})
	opened := make(chan error)
	go func() {
		second, err := workdir.Open(context.Background(), filepath.Join(p.dir, ".terraform"),
			workdir.Files{Project: p.root, LockFile: lockName}, func() { close(waiting) })
		if err == nil {
			err = second.Close()
		}
		opened <- err
	}()
	<-waiting
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("Open after waiting: %v", err)
	}

	first = p.open(t)
	defer first.Close()
	ctx, cancel := context.WithCancel(context.Background())
	_, err := workdir.Open(ctx, filepath.Join(p.dir, ".terraform"), workdir.Files{Project: p.root, LockFile: lockName}, cancel)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a cancelled context = %v, want context.Canceled", err)
	}
}

func TestPackageRefusesLinks(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	d := p.open(t)
	defer d.Close()
	if err := os.Symlink(t.TempDir(), filepath.Join(d.Path(), "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Package("a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Package of a link = %v, want an error", err)
	}
	if _, err := d.Package("b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Package of nothing = %v, want fs.ErrNotExist", err)
	}
}
