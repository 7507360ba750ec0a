package project_test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
)

// The tests that set the process's hook do not run in parallel with others.

type killed struct{}

// kill makes the change and stops before the step with this number, as if the process were
// killed. It returns the name of the step, or "" if there are no more steps.
func (a at) kill(t testing.TB, number int) (name string) {
	t.Helper()
	return a.killChange(t, number, func(p *project.Project) project.Change { return a.theChange(t, p) })
}

func (a at) killChange(t testing.TB, number int, planned func(*project.Project) project.Change) (name string) {
	t.Helper()
	p := a.open(t)
	c := planned(p)
	steps := 0
	atomicfile.SetStepHook(func(s string) error {
		if steps++; steps > number {
			name = s
			panic(killed{})
		}
		return nil
	})
	defer func() {
		atomicfile.SetStepHook(nil)
		if recovered := recover(); recovered != nil && recovered != (killed{}) {
			panic(recovered)
		}
		testenv.Must(t, p.Abandon())
	}()
	testenv.Must(t, p.Commit(c))
	return name
}

func (a at) phase(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.top(), modules, "modules.json"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "no modules"
	case string(text) == "old manifest":
		return "the old tree"
	case string(text) == "new manifest":
		return "the new tree"
	}
	t.Fatalf("modules.json has %q, %v", text, err)
	return ""
}

// trees returns the files that stock tools see in a project, except during a change.
func trees(files map[string]string) map[string]string {
	visible := maps.Clone(files)
	maps.DeleteFunc(visible, func(name, _ string) bool {
		return strings.Contains(name, "/.cotter/") || name == lockName || strings.HasSuffix(name, ".tmp")
	})
	return visible
}

// TestKilled kills a process before each step of a change. Stock tools never see a mixture of
// old and new modules. The next process leaves the project as it was before or after the change,
// reports what it did, and leaves no other files.
func TestKilled(t *testing.T) {
	for name, startHere := range map[string]func(testing.TB) at{
		"in its directory": start,
		"on another file system": func(t testing.TB) at {
			a := newAt(t)
			a.outside = otherFileSystem(t)
			return a.filled(t)
		},
	} {
		t.Run(name, func(t *testing.T) { testKilled(t, startHere) })
	}
}

// otherFileSystem returns a directory on a file system in memory, if the machine has one.
func otherFileSystem(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "cotter-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func testKilled(t *testing.T, startHere func(testing.TB) at) {
	t.Helper()
	phases := map[string]int{}
	for number := 0; ; number++ {
		a := startHere(t)
		name := a.kill(t, number)
		if name == "" {
			break
		}
		phase := a.phase(t)
		phases[phase]++
		if want := map[string]map[string]string{"the old tree": trees(before), "the new tree": trees(after)}[phase]; want != nil {
			if diff := cmp.Diff(want, trees(a.files(t, false))); diff != "" {
				t.Errorf("killed before step %d, %s, and stock tools see %s (-want +got):\n%s", number, name, phase, diff)
			}
		}
		checkView(t, a, name, phase)
		p := a.open(t)
		want := before
		if phase == "the new tree" {
			want = after
		}
		undone := slices.ContainsFunc(p.Notices(), func(f project.Notice) bool { return f.Kind == project.Undone })
		if undone != (phase == "no modules") && phase != "the old tree" {
			t.Errorf("killed before step %d, %s: Notices = %v in phase %s", number, name, p.Notices(), phase)
		}
		testenv.Must(t, p.Close())
		if diff := cmp.Diff(want, a.files(t, true)); diff != "" {
			t.Errorf("killed before step %d, %s, and opened again (-want +got):\n%s", number, name, diff)
		}
		if entries, err := os.ReadDir(a.dir); a.outside != "" && (err != nil || len(entries) > 0) {
			t.Errorf("killed before step %d, %s: the project has %v, %v", number, name, entries, err)
		}
	}
	for _, phase := range []string{"the old tree", "no modules", "the new tree"} {
		if phases[phase] == 0 {
			t.Errorf("no step ends in the phase %q: %v", phase, phases)
		}
	}
}

func checkView(t testing.TB, a at, name, phase string) {
	t.Helper()
	files := a.files(t, true)
	p, err := project.View(a.location(), a.key)
	testenv.Must(t, err)
	unfinished := p.Unfinished()
	testenv.Must(t, p.Close())
	if phase == "no modules" && !unfinished || phase == "the new tree" && unfinished {
		t.Errorf("killed before %s: Unfinished = %v in phase %s", name, unfinished, phase)
	}
	if diff := cmp.Diff(files, a.files(t, true)); diff != "" {
		t.Errorf("View changed the project (-before +after):\n%s", diff)
	}
}

// TestFailure makes each step of a change fail. The lock, its copy, the manifest and the
// packages are unchanged afterwards. If undoing the change fails as well, the next process
// completes it.
func TestFailure(t *testing.T) {
	faults := []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES, syscall.EROFS}
	for _, forever := range []bool{false, true} {
		for number, more := 0, true; more; number++ {
			fault := faults[number%len(faults)]
			more = testFailure(t, number, fault, forever)
		}
	}
}

// testFailure makes one step fail and, if forever is set, all later steps too. It reports
// whether the change has that many steps.
func testFailure(t *testing.T, number int, fault error, forever bool) bool {
	t.Helper()
	a := start(t)
	p := a.open(t)
	c := a.theChange(t, p)
	steps, name := 0, ""
	atomicfile.SetStepHook(func(s string) error {
		if steps++; steps == number+1 || steps > number && forever {
			name = orElse(name, s)
			return fault
		}
		return nil
	})
	err := p.Commit(c)
	atomicfile.SetStepHook(nil)
	testenv.Must(t, p.Close())
	var notUndone *project.UndoError
	if errors.As(err, &notUndone) {
		if !forever || a.phase(t) == "the new tree" {
			t.Errorf("%v at %s: %v", fault, name, err)
		}
		if err := a.open(t).Close(); err != nil {
			t.Errorf("the next Open after %v at %s: %v", fault, name, err)
		}
	}
	want := before
	if err == nil {
		want = after
	}
	if diff := cmp.Diff(trees(want), trees(a.files(t, false))); diff != "" || err == nil && name != "" && !harmless(name) {
		t.Errorf("%v at %s, for ever: %v: Commit = %v (-want +got):\n%s", fault, name, forever, err, diff)
	}
	if err := a.open(t).Close(); err != nil { // Open cleans up
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, a.files(t, true)); diff != "" {
		t.Errorf("%v at %s, for ever: %v, and opened again (-want +got):\n%s", fault, name, forever, diff)
	}
	return name != ""
}

func harmless(name string) bool {
	return name == "project.complete.syncdir" || name == "project.journal.remove" || name == "project.retired.remove"
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// killUntil returns a project in which the change was killed at the first step that leaves a
// certain state.
func killUntil(t testing.TB, reached func(at) bool) at {
	t.Helper()
	for number := 0; ; number++ {
		a := start(t)
		if a.kill(t, number) == "" {
			t.Fatal("the change has no such step")
		}
		if reached(a) {
			return a
		}
	}
}

func isAbsent(name string) func(at) bool {
	return func(a at) bool {
		_, err := os.Lstat(filepath.Join(a.dir, filepath.FromSlash(name)))
		return errors.Is(err, os.ErrNotExist)
	}
}

// TestForeignInstall lets a stock tool install modules after a change was killed while
// modules.json was retired.
func TestForeignInstall(t *testing.T) {
	a := killUntil(t, isAbsent(modules+"gone/main.tf"))
	a.write(t, modules+"modules.json", "of another tool")
	a.write(t, modules+"c/main.tf", "# of another tool\n")
	p := a.open(t)
	if notices := p.Notices(); len(notices) != 1 || notices[0].Kind != project.GivenUp {
		t.Errorf("Notices = %v, want GivenUp", notices)
	}
	testenv.Must(t, p.Close())
	files := a.files(t, true)
	if files[modules+"modules.json"] != "of another tool" || files[modules+"c/main.tf"] == "" {
		t.Errorf("what the other tool installed is %v", files)
	}
}

// TestRestoredAfterKill lets git restore a committed package after a change was killed. The change is undone
// as a whole.
func TestRestoredAfterKill(t *testing.T) {
	for name, killed := range map[string]func(at) bool{
		"a package that was retired":  isAbsent(modules + "a"),
		"a package that was replaced": func(a at) bool { return !isAbsent(modules + "b")(a) },
	} {
		t.Run(name, func(t *testing.T) {
			a := killUntil(t, killed)
			a.write(t, modules+"a/main.tf", "# old\n")
			testenv.Must(t, a.open(t).Close())
			if diff := cmp.Diff(before, a.files(t, true)); diff != "" {
				t.Errorf("the project (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnproven plants files that this user did not write for this project.
func TestUnproven(t *testing.T) {
	a := start(t)
	number := 0
	for a.phase(t) != "no modules" {
		a = start(t)
		a.kill(t, number)
		number++
	}
	journal, err := os.ReadFile(filepath.Join(a.dir, modules, ".cotter/journal"))
	testenv.Must(t, err)
	lockCopy, err := os.ReadFile(filepath.Join(a.dir, modules, ".cotter/lock.hcl"))
	testenv.Must(t, err)
	_, bare, _ := bytes.Cut(journal, []byte("\n"))
	for name, text := range map[string]string{
		"another project's": string(journal), "not sealed": string(bare), "no content": string(journal[:bytes.IndexByte(journal, '\n')+1]),
		"cut": string(journal[:len(journal)-9]), "empty": "", "garbage": "garbage", "a lock copy": string(lockCopy),
	} {
		other := start(t)
		other.key = a.key // the same user
		// The lock copy that start made now belongs to another user.
		other.write(t, modules+".cotter/lock.hcl", string(lockCopy))
		other.write(t, modules+".cotter/journal", text)
		other.write(t, modules+".cotter/stage/x/net/main.tf", "# evil\n")
		p := other.open(t)
		var kinds []project.NoticeKind
		for _, f := range p.Notices() {
			kinds = append(kinds, f.Kind)
		}
		if diff := cmp.Diff([]project.NoticeKind{project.UnprovenJournal, project.UnprovenLockCopy}, kinds); diff != "" {
			t.Errorf("%s: notices (-want +got):\n%s", name, diff)
		}
		if p.FormerLock() != nil {
			t.Errorf("%s: FormerLock = %q", name, p.FormerLock())
		}
		testenv.Must(t, p.Close())
		if diff := cmp.Diff(trees(before), trees(other.files(t, false))); diff != "" {
			t.Errorf("%s: the project (-want +got):\n%s", name, diff)
		}
	}
}

// A file that another user has sealed proves nothing. A file that the same user has sealed counts
// even if the project is reached through another path.
func TestProof(t *testing.T) {
	t.Parallel()
	a := start(t)
	if got := a.open(t); string(got.FormerLock()) != "old lock\n" || got.Close() != nil {
		t.Errorf("FormerLock = %q", got.FormerLock())
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(a.dir, link); err == nil {
		if got := (at{dir: link, key: a.key}).open(t); string(got.FormerLock()) != "old lock\n" || got.Close() != nil {
			t.Errorf("through a link, FormerLock = %q", got.FormerLock())
		}
	}
	if got := (at{dir: a.dir, key: userkey.Random()}).open(t); got.FormerLock() != nil || !got.HasLockCopy() || got.Close() != nil {
		t.Errorf("for another user, FormerLock = %q", got.FormerLock())
	}
	moved := filepath.Join(t.TempDir(), "moved")
	testenv.Must(t, os.Rename(a.dir, moved))
	if got := (at{dir: moved, key: a.key}).open(t); got.FormerLock() != nil || got.Close() != nil {
		t.Errorf("after the project was moved, FormerLock = %q", got.FormerLock())
	}
}

// A large file with the name of one of Cotter's files is not read.
func TestLimits(t *testing.T) {
	t.Parallel()
	a := start(t)
	for _, name := range []string{lockName, modules + "modules.json", modules + ".cotter/journal", modules + ".cotter/lock.hcl", modules + ".cotter/sums/t1-abc"} {
		if err := os.Truncate(filepath.Join(a.dir, name), 3<<30); errors.Is(err, os.ErrNotExist) {
			a.write(t, name, "")
			err = os.Truncate(filepath.Join(a.dir, name), 3<<30)
			if err != nil {
				t.Skipf("no sparse files here: %v", err)
			}
		}
	}
	allocated := testenv.Allocated(func() {
		p, err := project.View(a.location(), a.key)
		testenv.Must(t, err)
		defer p.Close()
		_, lockErr := p.Lock()
		_, manifestErr := p.Manifest()
		_, sumsErr := p.Sums("t1-abc")
		if lockErr == nil || manifestErr == nil || sumsErr == nil || p.Unfinished() || p.FormerLock() != nil {
			t.Errorf("large files were read: %v, %v, %v", lockErr, manifestErr, sumsErr)
		}
	})
	if allocated > 64<<20 {
		t.Errorf("%d bytes were allocated", allocated)
	}
}

// The directory of a lock may vanish while a change is unfinished, as on a memory file system after a
// restart. Then the rest of the change is undone.
func TestLockDirectoryGone(t *testing.T) {
	base := t.TempDir()
	for number := 0; ; number++ {
		a := at{dir: t.TempDir(), key: userkey.Random()}
		locks := filepath.Join(base, strconv.Itoa(number))
		testenv.Must(t, os.Mkdir(locks, 0o755))
		a.elsewhere = &project.Location{Dir: a.dir, DataDir: filepath.Join(a.dir, ".terraform"), LockFile: filepath.Join(locks, "the.lock")}
		name := a.killChange(t, number, func(p *project.Project) project.Change { return change(t, p, map[string]string{"a": "# new\n"}) })
		if name == "" {
			return
		}
		testenv.Must(t, os.RemoveAll(locks))
		a.elsewhere.LockFile = lockName
		testenv.Must(t, a.open(t).Close())
	}
}
