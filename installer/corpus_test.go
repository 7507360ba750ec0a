package installer_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	manifests "github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/repository"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

var corpus = flag.String("corpus", "", "compare with the stock tools on the cases or the checked-out repositories in `DIR`, as testdata/README.md says, instead of the cases in testdata/corpus")

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
	{[]string{"modules.json", "nothing was installed"}, "without module calls we write nothing, as stock init"},
}

// TestCorpus installs each root module of each case with Cotter and with each stock tool that is
// available. It compares exit codes, modules.json and the files of all modules, and checks which
// requests the stock tool still sends after Cotter's installation.
func TestCorpus(t *testing.T) {
	t.Parallel()
	dir := *corpus
	if dir == "" {
		dir = filepath.Join("testdata", "corpus")
	}
	if len(stockTools(t)) == 0 {
		t.Skip("neither tofu nor terraform is installed")
	}
	if isRepositories(dir) {
		testRepositories(t, dir, strings.Split(*pasts, ","), max(*everyRoot, 1))
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%s has no cases: %v", dir, err)
	}
	for _, entry := range testenv.Sample(entries) {
		t.Run(strings.TrimSuffix(entry.Name(), ".txtar"), func(t *testing.T) {
			t.Parallel()
			readCorpusCase(t, filepath.Join(dir, entry.Name())).run(t)
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
	// providers says that whole installations are compared, with providers: a stock init with
	// an install. Cotter is told the tool.
	providers bool
}

func readCorpusCase(t *testing.T, name string) *corpusCase {
	t.Helper()
	if filepath.Ext(name) != ".txtar" {
		return &corpusCase{files: os.DirFS(name)}
	}
	archive, err := txtar.ParseFile(name)
	testenv.Must(t, err)
	c := &corpusCase{}
	files := fstest.MapFS{}
	for line := range strings.Lines(string(archive.Comment)) {
		option, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch option {
		case "tool":
			c.tool = value
		case "providers":
			c.providers = true
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
	if platform := addrs.CurrentPlatform().String(); c.providers && platform != "linux_amd64" {
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
			if c.providers {
				for _, difference := range c.compareInit(t, p.world, binary, env, req, below) {
					report(t, fmt.Sprintf("%s, %s: %s", dialect, below, difference))
				}
				continue
			}
			if c.tool != "" {
				req.Dialect = installer.DialectAuto
			}
			one := &comparison{project: p, binary: binary, env: env, req: req}
			one.run(t)
			for _, difference := range one.differences {
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
	one, err := newInitComparison(p, binary, env, req, other)
	testenv.Must(t, err)
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

// comparison installs one root module with Cotter and with a stock tool.
type comparison struct {
	*project
	binary      string
	env         []string
	req         request
	differences []string
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

func (c *comparison) run(t *testing.T) {
	lockFile := filepath.Join(c.req.Dir, orElse(c.req.LockFile, ".terraform.lock.hcl"))
	lock, lockErr := os.ReadFile(lockFile)
	in := c.installerOfBoth()
	fetcher := in.Options().Fetcher.(*getmodules.Fetcher)
	fetcher.Git.Env = append(fetcher.Git.Env, c.env...)
	_, ourErr := in.Install(t.Context(), c.req.Project, c.req.InstallOptions)
	ours := c.installed(t)
	c.clear(t)
	if info, err := os.Lstat(lockFile); err == nil && info.Mode().IsRegular() {
		if lockErr != nil {
			c.removeAll(t, lockFile)
		} else if err := os.WriteFile(lockFile, lock, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, stockErr := c.get(t)
	stock := c.installed(t)
	c.clear(t)
	switch {
	case stockErr != nil && ourErr == nil:
		c.differ("ours installs, stock fails:\n%s", out)
	case stockErr == nil && ourErr != nil:
		c.differ("stock installs, ours fails: %v", ourErr)
	case ourErr != nil:
		return // the files that a stock tool leaves after a failure are not compared
	}
	if ourErr != nil || stockErr != nil {
		return
	}
	if ours.manifest == "" && stock.manifest != "" {
		c.differ("modules.json: nothing was installed, stock has %s", stock.manifest)
		return
	}
	if diff := cmp.Diff(stock.manifest, ours.manifest); diff != "" {
		c.differ("modules.json (-stock +ours):\n%s", diff)
	}
	if diff := cmp.Diff(stock.files, ours.files); diff != "" {
		c.differ("files (-stock +ours):\n%s", diff)
	}
	c.askedAfterOurs(t, in)
}

// askedAfterOurs runs the stock tool after Cotter's installation. It checks which requests the
// tool sends and whether it changes modules.json.
func (c *comparison) askedAfterOurs(t *testing.T, in *installer.Installer) {
	if _, err := in.Install(t.Context(), c.req.Project, c.req.InstallOptions); err != nil {
		c.differ("a second install of ours: %v", err)
		return
	}
	before := c.installed(t)
	c.world.ResetRequests()
	out, err := c.get(t)
	if err != nil {
		c.differ("after ours, stock fails:\n%s", out)
	}
	if requests := c.world.Requests(); len(requests) > 0 {
		c.differ("after ours, stock asks for %v", requests)
	}
	if diff := cmp.Diff(before.manifest, c.installed(t).manifest); diff != "" {
		c.differ("after ours, stock changes modules.json (-ours +stock):\n%s", diff)
	}
	c.clear(t)
}

func (c *comparison) modules() string {
	return filepath.Join(c.req.Dir, orElse(c.req.DataDir, ".terraform"), "modules")
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (c *comparison) clear(t *testing.T) { c.removeAll(t, c.modules()) }

func (c *comparison) removeAll(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(name))
}

// get runs the stock tool's get command.
func (c *comparison) get(t *testing.T) (string, error) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	var text strings.Builder
	for _, host := range []string{"registry.opentofu.org", "registry.terraform.io"} {
		fmt.Fprintf(&text, "host %q {\n  services = {\n    \"modules.v1\" = %q\n  }\n}\n", host, c.world.URL()+"/v1/modules/")
	}
	testenv.Must(t, os.WriteFile(config, []byte(text.String()), 0o600))
	cmd := exec.Command(c.binary, "get", "-no-color")
	cmd.Dir = c.req.Dir
	cmd.Env = append(append(os.Environ(), c.world.Env()...), "TF_CLI_CONFIG_FILE="+config, "TF_DATA_DIR="+c.req.DataDir, "CHECKPOINT_DISABLE=1")
	cmd.Env = append(cmd.Env, c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
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
