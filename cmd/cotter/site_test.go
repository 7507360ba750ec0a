package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const (
	lockFile = ".terraform.lock.hcl"
	modules  = ".terraform/modules/"
)

// site is a project with its servers, and the directories of its user. What runs keep in a project is
// valid only for its path, so tests restore a site instead of copying it.
type site struct {
	world   *modtest.World
	workers *workers
	env     []string // variables of this user
	base    string   // contains all directories below

	project, cache, state, home, tmp string

	good  map[string]string     // the project's files as they were installed
	saved map[string]*savedTree // by name and directory, in memory, because most are written dozens of times
}

// newSite returns a site without a project.
func newSite(t *testing.T, world *modtest.World, env ...string) *site {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	testenv.Must(t, err)
	in := func(name string) string { return filepath.Join(base, name) }
	s := &site{world: world, workers: warm, env: env, base: base, project: in("project"), cache: in("cache"), state: in("state"), home: in("home"), tmp: in("tmp")}
	for _, dir := range []string{s.project, s.state, s.home, s.tmp} {
		testenv.Must(t, os.Mkdir(dir, 0o755))
	}
	testenv.WriteFile(t, in("home/cli.tfrc"), "")
	return s
}

// write writes a file of the project, in which MODTEST_HOST stands for the servers.
func (s *site) write(t *testing.T, name, text string) {
	t.Helper()
	testenv.WriteFile(t, filepath.Join(s.project, name), strings.ReplaceAll(text, "MODTEST_HOST", string(s.world.Host())))
}

func (s *site) environment() []string {
	return append(append(append(os.Environ(), s.world.Env()...), "CI=", "NO_COLOR=1", "GIT_CONFIG_NOSYSTEM=1",
		"HOME="+s.home, "TMPDIR="+s.tmp, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "XDG_DATA_DIRS=", "XDG_STATE_HOME="+s.state, "COTTER_CACHE_DIR="+s.cache,
		"TF_CLI_CONFIG_FILE="+filepath.Join(s.home, "cli.tfrc")), s.env...)
}

// command returns a process that runs a command line in the project.
func (s *site) command(line string, env ...string) *exec.Cmd {
	cmd := exec.Command(cotterBinary, strings.Fields(line)...)
	cmd.Dir, cmd.Env = s.project, append(s.environment(), env...)
	return cmd
}

// ending is how a command has ended.
type ending struct {
	status int // negative if the process was killed
	hung   bool
	out    string
	memory int64 // the peak memory of its worker, in bytes
}

// run runs a command line in a worker, in the project.
func (s *site) run(line string, env ...string) ending {
	end, err := s.workers.do(workerCommand{Dir: s.project, Env: append(s.environment(), env...), Args: strings.Fields(line)})
	if err != nil {
		return ending{status: -1, hung: errors.Is(err, context.DeadlineExceeded), out: err.Error()}
	}
	return ending{status: end.Status, out: string(end.Out), memory: end.Memory}
}

// mustRun runs a command line that must succeed, and returns its output.
func (s *site) mustRun(t *testing.T, line string) string {
	t.Helper()
	end := s.run(line)
	if end.status != 0 {
		t.Fatalf("cotter %s: status %d\n%s", line, end.status, end.out)
	}
	return end.out
}

// install installs the project, and saves it as it is then.
func (s *site) install(t *testing.T) {
	t.Helper()
	s.mustRun(t, "install")
	s.good = picture(t, s.project)
	s.save(t, "installed")
}

// save keeps copies of the project, the cache and the state under a name.
func (s *site) save(t *testing.T, name string) {
	t.Helper()
	if s.saved == nil {
		s.saved = make(map[string]*savedTree)
	}
	for _, dir := range []string{s.project, s.cache, s.state} {
		tree, err := keptTree(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			testenv.Must(t, err)
		}
		s.saved[name+" "+dir] = tree
	}
}

// restore restores what was saved under a name, without some directories.
func (s *site) restore(t *testing.T, name string, without ...string) {
	t.Helper()
	for _, dir := range []string{s.project, s.cache, s.state} {
		remove(t, dir)
		testenv.Must(t, s.saved[name+" "+dir].write(dir, without...))
	}
}

// lockText returns the text of the lock, or "" if the project has no lock.
func (s *site) lockText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.project, lockFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// copyOf copies a directory, if it exists.
func copyOf(t *testing.T, dst, src string) {
	t.Helper()
	if err := copyTree(dst, src); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// copyTree copies a file or a directory, with its modes and links.
func copyTree(dst, src string) error {
	tree, err := keptTree(src)
	if err != nil {
		return err
	}
	return tree.write(dst)
}

// savedTree is a file or a directory in memory. Directories come before what they contain.
type savedTree []savedFile

type savedFile struct {
	name string // relative to the root of the tree
	mode fs.FileMode
	data []byte // the target of a link
}

// keptTree reads the file or the directory at a path. It returns nil with an error.
func keptTree(root string) (*savedTree, error) {
	tree := new(savedTree)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		file := savedFile{mode: info.Mode()}
		file.name, _ = filepath.Rel(root, name)
		switch {
		case d.IsDir():
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(name)
			file.data = []byte(target)
		default:
			file.data, err = os.ReadFile(name)
		}
		*tree = append(*tree, file)
		return err
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// write writes the tree to a path at which nothing is, without what is at and below some paths. It writes nothing if there is no tree.
func (s *savedTree) write(root string, without ...string) error {
	if s == nil {
		return nil
	}
	for _, file := range *s {
		to := filepath.Join(root, file.name)
		if slices.ContainsFunc(without, func(dir string) bool { return to == dir || strings.HasPrefix(to, dir+string(filepath.Separator)) }) {
			continue
		}
		var err error
		switch {
		case file.mode.IsDir():
			err = os.MkdirAll(to, file.mode)
		case file.mode&fs.ModeSymlink != 0:
			err = os.Symlink(string(file.data), to)
		default:
			err = os.WriteFile(to, file.data, file.mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sealedHeader matches the lines of a sealed copy before the lock: the seal, which depends on
// the project's path, and the records of the evidence with their times.
var sealedHeader = regexp.MustCompile(`\A.*\n# confirmed \d+\n(# [0-9a-f]{64} \S+\n)*# addresses \d+\n(# [0-9a-f]{64} \S+\n)*`)

// maxPictured is the number of bytes of a file that are compared.
const maxPictured = 1 << 20

// picture returns the mode and the content of every file at and below a path, by its relative path. It
// opens only regular files. Files that the command keeps only during a run, and empty directories that an
// attempt may leave, are left out, and so are the paths for which a function returns true, with everything
// below them.
func picture(t *testing.T, dir string, leftOut ...func(rel string) bool) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if slices.ContainsFunc(append(leftOut, isTransient), func(is func(string) bool) bool { return is(rel) }) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		content := ""
		switch {
		case err != nil || d.IsDir() && isMadeByAll(rel):
			return err
		case d.Type()&fs.ModeSymlink != 0:
			content, err = os.Readlink(name)
		case d.Type().IsRegular() && info.Size() > maxPictured:
			content = fmt.Sprint(info.Size(), " bytes")
		case d.Type().IsRegular():
			var data []byte
			data, err = os.ReadFile(name)
			content = string(data)
			if rel == modules+".cotter/lock.hcl" {
				content = sealedHeader.ReplaceAllString(content, "")
			}
		}
		files[rel] = fmt.Sprintf("%v %s", info.Mode(), content)
		return err
	})
	testenv.Must(t, err)
	return files
}

func isTransient(rel string) bool {
	name, ok := strings.CutPrefix(rel, modules+".cotter/")
	return ok && slices.Contains([]string{"lock", "stage", "retired"}, name)
}

func isMadeByAll(rel string) bool {
	switch rel {
	case ".", ".terraform", ".terraform/modules", ".terraform/modules/.cotter", ".terraform/modules/.cotter/tree", ".terraform/modules/.cotter/sums":
		return true
	}
	return false
}

// differing lists the files that differ between two pictures.
func differing(before, after map[string]string) string {
	var list []string
	for name, content := range before {
		if now, ok := after[name]; !ok {
			list = append(list, "- "+name)
		} else if now != content {
			list = append(list, name+":\n"+cmp.Diff(content, now))
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			list = append(list, "+ "+name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

func remove(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(name))
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	testenv.Must(t, err)
	return text
}
