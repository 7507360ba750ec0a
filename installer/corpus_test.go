package installer_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	manifests "github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/repository"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// allowedDifferences are the intended differences between Cotter and the stock tools. A
// difference is allowed if its text contains all of the words.
var allowedDifferences = []struct {
	words  []string
	reason string
}{
	{[]string{"ours installs, stock fails", "Invalid registry module source address"}, "a version argument beside a git or OCI address is accepted, with a warning"},
	{[]string{"stock installs, ours fails", "is not a regular file but a symbolic link"}, "a lock is not written through a link, and the error says what to do"},
	{[]string{"stock installs, ours fails", "local module path escapes module package"}, "what a path out of a package hits depends on the order in which things were installed"},
	{[]string{"ours installs, stock fails", "locked provider", "-upgrade"}, "a locked version that the constraints exclude is selected anew, and the summary says so"},
}

// TestCorpus installs each root module of each case with Cotter and with an init of each stock tool that is
// available. It compares exit codes, the provider blocks of the lock, modules.json, and the files of all
// modules and providers, and checks what a second run of either still requests and changes.
func TestCorpus(t *testing.T) {
	t.Parallel()
	if len(stockTools(t)) == 0 {
		t.Skip("neither tofu nor terraform is installed")
	}
	cases, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txtar"))
	if err != nil || len(cases) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	for _, name := range testenv.Sample(cases) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			readCorpusCase(t, name).run(t)
		})
	}
}

type corpusCase struct {
	files fs.FS
	// tool is the stock tool to compare with, which Cotter must detect. If it is "", the case
	// runs with each available tool, and the request names the tool.
	tool     string
	dataDir  string
	lockFile string
	links    []string // "NAME -> TARGET" in the configuration
}

func readCorpusCase(t *testing.T, name string) *corpusCase {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	testenv.Must(t, err)
	c := &corpusCase{}
	files := fstest.MapFS{}
	for line := range strings.Lines(string(archive.Comment)) {
		option, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch option {
		case "tool":
			c.tool = value
		case "data-dir":
			c.dataDir = value
		case "lock-file":
			c.lockFile = value
		case "link":
			c.links = append(c.links, value)
		case "package-link":
			name, target, _ := strings.Cut(value, " -> ")
			files[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
		}
	}
	for _, file := range archive.Files {
		files[file.Name] = &fstest.MapFile{Data: file.Data}
	}
	c.files = files
	return c
}

func (c *corpusCase) run(t *testing.T) {
	_, err := fs.Stat(c.files, "providers")
	if platform := addrs.CurrentPlatform().String(); err == nil && platform != "linux_amd64" {
		t.Skipf("the providers are for linux_amd64, not for %s", platform)
	}
	p := &project{world: modtest.NewWith(t, c.files, modtest.Options{}), dir: t.TempDir(), state: t.TempDir()}
	c.write(t, p, p.dir)
	env := c.gitEnv(t, p)
	roots, err := repository.Roots(t.Context(), installer.New(installer.Options{}), p.dir, installer.DialectAuto)
	testenv.Must(t, err)
	if len(roots) == 0 {
		roots = []string{p.dir}
	}
	compared := false
	for dialect, binary := range stockTools(t) {
		if c.tool != "" && c.tool != dialect.String() {
			continue
		}
		compared = true
		for _, root := range roots {
			below := strings.TrimPrefix(root, p.dir)
			req := request{Project: installer.Project{Dir: root, DataDir: c.dataDir, LockFile: c.lockFile, Dialect: dialect}}
			if c.tool != "" {
				req.Dialect = installer.DialectAuto
			}
			for _, difference := range c.compareInit(t, p.world, binary, env, req, below) {
				report(t, fmt.Sprintf("%s, %s: %s", dialect, below, difference))
			}
		}
	}
	if !compared {
		t.Skipf("%s is not installed", c.tool)
	}
}

func (c *corpusCase) write(t *testing.T, p *project, dir string) {
	t.Helper()
	testenv.Must(t, p.world.WriteTree(dir, "config"))
	for _, link := range c.links {
		name, target, _ := strings.Cut(link, " -> ")
		if err := os.Symlink(strings.ReplaceAll(target, "DIR", dir), filepath.Join(dir, name)); err != nil {
			t.Skipf("there are no symbolic links here: %v", err)
		}
	}
}

// compareInit compares whole installations of the root module below the configuration.
func (c *corpusCase) compareInit(t *testing.T, world *modtest.World, binary string, env []string, req request, below string) []difference {
	t.Helper()
	p, other := &project{world: world, dir: t.TempDir(), state: t.TempDir()}, t.TempDir()
	c.write(t, p, p.dir)
	c.write(t, p, other)
	req.Dir = filepath.Join(p.dir, below)
	inOther := req
	inOther.Dir = filepath.Join(other, below)
	one := &initComparison{project: p, binary: binary, env: env, other: other, stock: comparison{inOther}, ours: comparison{req}}
	one.run(t.Context(), t)
	return one.differences
}

// gitEnv makes git use the case's gitconfig, if it has one. That file can redirect the
// repositories' real addresses to mirrors.
func (c *corpusCase) gitEnv(t *testing.T, p *project) []string {
	t.Helper()
	text, err := fs.ReadFile(c.files, "gitconfig")
	if err != nil {
		return nil
	}
	name := filepath.Join(t.TempDir(), "gitconfig")
	text = bytes.ReplaceAll(text, []byte(modtest.HostPlaceholder), []byte(p.world.Host()))
	testenv.Must(t, os.WriteFile(name, text, 0o600))
	return []string{"GIT_CONFIG_GLOBAL=" + name}
}

// report fails the test unless the difference is one of allowedDifferences.
func report(t *testing.T, difference string) {
	t.Helper()
	for _, allowed := range allowedDifferences {
		if !slices.ContainsFunc(allowed.words, func(word string) bool { return !strings.Contains(difference, word) }) {
			t.Logf("allowed: %s\n%s", allowed.reason, difference)
			return
		}
	}
	t.Error(difference)
}

// comparison is the installation of one root module, by Cotter or by a stock tool.
type comparison struct{ req request }

func (c *comparison) modules() string {
	return filepath.Join(c.req.Dir, orElse(c.req.DataDir, ".terraform"), "modules")
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// installedTree has the keys and paths in modules.json and the files of all modules.
type installedTree struct {
	manifest string
	files    map[string]string
}

func (c *comparison) installed(t *testing.T) installedTree {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.modules(), "modules.json"))
	if err != nil {
		return installedTree{}
	}
	recorded, err := manifests.ParseManifest(text)
	testenv.Must(t, err)
	tree := installedTree{manifest: string(text), files: map[string]string{}}
	for _, record := range recorded.Records()[1:] {
		dir := record.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(c.req.Dir, dir)
		}
		if err := tree.read(record.Key+": ", dir, 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return tree
}

// read reads the files of a directory and follows links. It ignores names that begin with a dot,
// because stock tools keep such files only in the first copy of a package.
func (i installedTree) read(prefix, dir string, depth int) error {
	const maxDepth = 30
	entries, err := os.ReadDir(dir)
	if err != nil || depth > maxDepth {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		info, err := os.Stat(name)
		switch {
		case err != nil:
			i.files[prefix+entry.Name()] = "a link to nothing"
		case info.IsDir():
			if err := i.read(prefix+entry.Name()+"/", name, depth+1); err != nil {
				return err
			}
		case info.Mode().IsRegular():
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			i.files[prefix+entry.Name()] = string(text)
		}
	}
	return nil
}
