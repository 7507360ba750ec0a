package installer_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/repository"
	manifests "github.com/cotterpin/cotter/internal/project"
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
	for _, name := range testenv.SampleFiles(cases, "git_attributes", "nested", "package_links", "past_locked") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			readCorpusCase(t, name).run(t)
		})
	}
}

type corpusCase struct {
	world *modtest.World
	// tool is the stock tool to compare with, which Cotter must detect. If it is "", the case
	// runs with each available tool, and the request names the tool.
	tool     string
	dataDir  string
	lockFile string
	links    []string // "NAME -> TARGET" in the configuration
	// gitEnv makes git use the case's gitconfig, if it has one. That file can redirect the repositories' real
	// addresses to mirrors.
	gitEnv []string
}

func readCorpusCase(t *testing.T, name string) *corpusCase {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	testenv.Must(t, err)
	c := &corpusCase{}
	files, renamed := fstest.MapFS{}, map[string]string{}
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
		case "package-name":
			name, quoted, _ := strings.Cut(value, " = ")
			odd, err := strconv.Unquote(quoted)
			testenv.Must(t, err)
			renamed[name] = odd
		case "package-link":
			name, target, _ := strings.Cut(value, " -> ")
			files[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
		}
	}
	for _, file := range archive.Files {
		files[orElse(renamed[file.Name], file.Name)] = &fstest.MapFile{Data: file.Data}
	}
	if platform := addrs.CurrentPlatform().String(); hasProviders(archive) && platform != "linux_amd64" {
		t.Skipf("the providers are for linux_amd64, not for %s", platform)
	}
	c.world = modtest.New(t, files)
	if config, ok := files["gitconfig"]; ok {
		name := filepath.Join(t.TempDir(), "gitconfig")
		testenv.Must(t, os.WriteFile(name, bytes.ReplaceAll(config.Data, []byte(modtest.HostPlaceholder), []byte(c.world.Host())), 0o600))
		c.gitEnv = []string{"GIT_CONFIG_GLOBAL=" + name}
	}
	return c
}

func hasProviders(archive *txtar.Archive) bool {
	return slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "providers/") })
}

func (c *corpusCase) run(t *testing.T) {
	dir := c.copyProject(t)
	roots, err := repository.Roots(t.Context(), installer.New(installer.Options{}), dir, repository.RootsOptions{})
	testenv.Must(t, err)
	if len(roots) == 0 {
		roots = []string{dir}
	}
	compared := false
	for dialect, binary := range stockTools(t) {
		if c.tool != "" && c.tool != dialect.String() {
			continue
		}
		compared = true
		for _, root := range roots {
			below := strings.TrimPrefix(root, dir)
			i := &initComparison{corpusCase: c, binary: binary, stock: c.copyProject(t), ours: c.copyProject(t), below: below, state: t.TempDir()}
			if c.tool == "" {
				i.dialect = dialect
			}
			i.run(t)
			for _, difference := range i.differences {
				report(t, fmt.Sprintf("%s, %s: %s", dialect, below, difference))
			}
		}
	}
	if !compared {
		t.Skipf("%s is not installed", c.tool)
	}
}

// copyProject returns the directory of a new copy of the project.
func (c *corpusCase) copyProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testenv.Must(t, c.world.WriteTree(dir, "config"))
	for _, link := range c.links {
		name, target, _ := strings.Cut(link, " -> ")
		if err := os.Symlink(strings.ReplaceAll(target, "DIR", dir), filepath.Join(dir, name)); err != nil {
			t.Skipf("there are no symbolic links here: %v", err)
		}
	}
	return dir
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

// initComparison compares a stock tool's init of a root module with an installation of its modules and providers
// by Cotter. Each works on its own copy of the project.
type initComparison struct {
	*corpusCase
	binary      string
	dialect     installer.Dialect
	stock, ours string // the directories of the copies
	below       string // the root module, below them
	state       string
	differences []string
}

func (c *initComparison) differ(kind, text string) {
	c.differences = append(c.differences, kind+":\n"+text)
}

func (c *initComparison) diff(kind string, a, b any) {
	if text := cmp.Diff(a, b); text != "" {
		c.differ(kind, text)
	}
}

func (c *initComparison) run(t *testing.T) {
	remote := hasRemoteBackend(t, filepath.Join(c.ours, c.below))
	out, stockErr := c.init(t, c.stock, remote)
	install := c.installation(t)
	ourErr := install()
	switch {
	case stockErr != nil && ourErr == nil:
		c.differ("ours installs, stock fails", out)
	case stockErr == nil && ourErr != nil:
		c.differ("stock installs, ours fails", ourErr.Error())
	}
	if stockErr != nil || ourErr != nil {
		return // what a run leaves after a failure is not compared
	}
	stock, ours := c.installedIn(t, c.stock), c.installedIn(t, c.ours)
	c.diff("provider blocks (-stock +ours)", stock.providerBlocks(), ours.providerBlocks())
	c.diff("modules.json (-stock +ours)", strings.ReplaceAll(stock.Manifest, c.stock, c.ours), ours.Manifest) // behind absolute links
	maps.DeleteFunc(stock.Modules, func(_, text string) bool { return text == linkToNothing })                // Cotter leaves them out
	c.diff("files of modules (-stock +ours)", stock.Modules, ours.Modules)
	c.diff("files of providers (-stock +ours)", stock.Providers, ours.Providers)

	c.world.ResetRequests()
	if out, err := c.init(t, c.ours, remote); err != nil {
		c.differ("after ours, stock fails", out)
	}
	for _, r := range c.world.Requests() {
		if ours.providerBlocks() == "" || !isQuestion(r.Path) {
			c.differ("after ours, stock asks for more than lists of versions", r.String())
		}
	}
	c.diff("after ours, stock changes what is installed (-ours +stock)", ours, c.installedIn(t, c.ours))

	before := listing(t, c.ours, false)
	c.world.ResetRequests()
	if err := install(); err != nil {
		c.differ("a second install of ours fails", err.Error())
	}
	for _, r := range c.world.Requests() {
		c.differ("a second install of ours sends a request", r.String())
	}
	c.diff("a second install of ours changes files (-before +after)", before, listing(t, c.ours, false))
}

// isQuestion reports whether a request's path is that of a discovery document or of a list of a
// provider's versions, which stock tools request even if everything is installed.
func isQuestion(path string) bool {
	return path == "/.well-known/terraform.json" || strings.HasPrefix(path, "/v1/providers/") && strings.HasSuffix(path, "/versions")
}

// services returns the services of the registries of both stock tools, which the world serves.
func (c *initComparison) services() map[addrs.Hostname]map[string]any {
	services := map[addrs.Hostname]map[string]any{}
	for _, host := range []addrs.Hostname{addrs.DefaultRegistryHost, addrs.TerraformRegistryHost} {
		services[host] = map[string]any{
			"modules.v1":   c.world.URL() + "/v1/modules/",
			"providers.v1": c.world.URL() + "/v1/providers/",
		}
	}
	return services
}

// installation returns a function that installs our copy, at first with an empty cache. The stock tool has an empty
// state, which PruneProviders means for us.
func (c *initComparison) installation(t *testing.T) func() error {
	t.Helper()
	in := installer.New(installer.Options{
		HTTPClient: c.world.HTTPClient(),
		Services:   c.services(),
		Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: slices.Concat(os.Environ(), c.world.Env(), c.gitEnv)}},
		CacheDir:   t.TempDir(),
		StateDir:   c.state,
	})
	return func() error {
		p := installer.Project{Dir: filepath.Join(c.ours, c.below), DataDir: c.dataDir, LockFile: c.lockFile, Dialect: c.dialect}
		_, err := in.Install(t.Context(), p, installer.InstallOptions{Scope: installer.ScopeAll, PruneProviders: true})
		return err
	}
}

// init runs the stock tool's init in a copy, without its remote backend if it has one.
func (c *initComparison) init(t *testing.T, dir string, remote bool) (string, error) {
	t.Helper()
	var text strings.Builder
	for host, services := range c.services() {
		fmt.Fprintf(&text, "host %q {\n  services = {\n", host)
		for name, address := range services {
			fmt.Fprintf(&text, "    %q = %q\n", name, address)
		}
		text.WriteString("  }\n}\n")
	}
	config := filepath.Join(t.TempDir(), "cli.tfrc")
	testenv.Must(t, os.WriteFile(config, []byte(text.String()), 0o600))
	args := []string{"init", "-no-color", "-input=false"}
	if remote {
		args = append(args, "-backend=false")
	}
	cmd := exec.CommandContext(t.Context(), c.binary, args...)
	cmd.Dir = filepath.Join(dir, c.below)
	cmd.Env = slices.Concat(os.Environ(), c.world.Env(), c.gitEnv, []string{
		"TF_CLI_CONFIG_FILE=" + config, "TF_DATA_DIR=" + c.dataDir, "HOME=" + t.TempDir(),
	})
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const linkToNothing = "a link to nothing"

// installed is the lock of a copy, the keys and paths in its modules.json, and the files of all modules and
// providers.
type installed struct {
	Lock, Manifest     string
	Modules, Providers map[string]string
}

func (c *initComparison) installedIn(t *testing.T, dir string) installed {
	t.Helper()
	root := filepath.Join(dir, c.below)
	data := filepath.Join(root, orElse(c.dataDir, ".terraform"))
	found := installed{Lock: fileIn(t, root, ".terraform.lock.hcl"), Manifest: fileIn(t, data, "modules/modules.json"), Modules: map[string]string{}, Providers: map[string]string{}}
	recorded, err := manifests.ParseManifest([]byte(found.Manifest))
	testenv.Must(t, err)
	for _, record := range recorded.Records() {
		module := record.Dir
		if !filepath.IsAbs(module) {
			module = filepath.Join(root, module)
		}
		if record.Key != "" {
			followFiles(t, found.Modules, record.Key+": ", module)
		}
	}
	followFiles(t, found.Providers, "", filepath.Join(data, "providers"))
	// tofu locks empty files during an installation
	maps.DeleteFunc(found.Providers, func(name, text string) bool { return strings.HasSuffix(name, ".lock") && text == "" })
	return found
}

var providerBlock = regexp.MustCompile(`(?m)^provider "`)

// providerBlocks returns the text of the provider blocks. Our lock has them after all module blocks.
func (i installed) providerBlocks() string {
	at := providerBlock.FindStringIndex(i.Lock)
	if at == nil {
		return ""
	}
	return i.Lock[at[0]:]
}

// followFiles adds the files of a directory, if it exists, and follows links. It ignores names that begin with a
// dot, because stock tools keep such files only in the first copy of a package.
func followFiles(t *testing.T, files map[string]string, prefix, dir string) {
	t.Helper()
	const maxDepth = 30
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || strings.Count(prefix, "/") > maxDepth {
		return
	}
	testenv.Must(t, err)
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		info, err := os.Stat(name)
		switch {
		case err != nil:
			files[prefix+entry.Name()] = linkToNothing
		case info.IsDir():
			followFiles(t, files, prefix+entry.Name()+"/", name)
		case info.Mode().IsRegular():
			files[prefix+entry.Name()] = fileIn(t, dir, entry.Name())
		}
	}
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

var remoteBackend = regexp.MustCompile(`\bcloud\s*\{|"?\bbackend"?\W+"?(s3|remote)"`)

// hasRemoteBackend reports whether the configuration in a directory keeps its state elsewhere.
func hasRemoteBackend(t *testing.T, dir string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.t*f*"))
	testenv.Must(t, err)
	return slices.ContainsFunc(names, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && remoteBackend.Match(text)
	})
}
