package installer_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/testenv"
)

// initComparison compares a stock tool's init with an installation of modules and providers by
// Cotter. Each works on its own copy of the project.
type initComparison struct {
	*project
	binary string
	env    []string
	// stock and ours are the copies. other is the directory of the stock tool's, as dir is that of ours.
	stock, ours comparison
	other       string
	differences []difference
}

// difference is a difference between Cotter and a stock tool.
type difference struct {
	kind string // what differs, the same for all projects
	text string
}

func (d difference) String() string { return d.kind + ":\n" + d.text }

// The kinds of differences.
const (
	onlyStockFails    = "ours installs, stock fails"
	onlyWeFail        = "stock installs, ours fails"
	otherBlocks       = "provider blocks (-stock +ours)"
	otherManifest     = "modules.json (-stock +ours)"
	otherModules      = "files of modules (-stock +ours)"
	otherProviders    = "files of providers (-stock +ours)"
	failsAfterOurs    = "after ours, stock fails"
	requestsAfterOurs = "after ours, stock asks for more than lists of versions"
	lockAfterOurs     = "after ours, stock changes the lock (-ours +stock)"
	filesAfterOurs    = "after ours, stock changes what is installed (-ours +stock)"
	secondFails       = "a second install of ours fails"
	secondAsks        = "a second install of ours sends requests"
	secondChanges     = "a second install of ours changes files (-before +after)"
)

func (c *initComparison) differ(kind, format string, args ...any) {
	c.differences = append(c.differences, difference{kind, fmt.Sprintf(format, args...)})
}

func (c *initComparison) diff(kind string, a, b any) {
	if text := cmp.Diff(a, b); text != "" {
		c.differ(kind, "%s", text)
	}
}

func (c *initComparison) run(ctx context.Context, t *testing.T) {
	remote := hasRemoteBackend(ctx, c.ours.req.Dir)
	out, stockErr := c.init(ctx, t, c.stock.req.Dir, remote)
	in := c.installer(t)
	_, ourErr := in.Install(ctx, c.request(remote).Project, c.request(remote).InstallOptions)
	switch {
	case stockErr != nil && ourErr == nil:
		c.differ(onlyStockFails, "%s", out)
	case stockErr == nil && ourErr != nil:
		c.differ(onlyWeFail, "%v", ourErr)
	}
	if stockErr != nil || ourErr != nil {
		return // what a run leaves after a failure is not compared
	}
	c.compareInstalled(t)
	c.initAfterOurs(ctx, t, remote)
	c.installAgain(ctx, t, in, remote)
}

// request returns our request. Without its backend, the stock tool assumes an empty state, which
// Prune means for us.
func (c *initComparison) request(remote bool) request {
	req := c.ours.req
	req.Scope = installer.ScopeAll
	req.PruneProviders = remote
	return req
}

func (c *initComparison) compareInstalled(t *testing.T) {
	t.Helper()
	c.diff(otherBlocks, providerText(c.stock.lock(t)), providerText(c.ours.lock(t)))
	stock, ours := c.stock.installed(t), c.ours.installed(t)
	c.diff(otherManifest, strings.ReplaceAll(stock.manifest, c.other, c.dir), ours.manifest) // behind absolute links
	c.diff(otherModules, stock.files, ours.files)
	c.diff(otherProviders, c.stock.providers(t), c.ours.providers(t))
}

// initAfterOurs runs the stock tool's init after Cotter's installation.
func (c *initComparison) initAfterOurs(ctx context.Context, t *testing.T, remote bool) {
	t.Helper()
	lock, modules, providers := c.ours.lock(t), c.ours.installed(t), c.ours.providers(t)
	c.world.ResetRequests()
	if out, err := c.init(ctx, t, c.ours.req.Dir, remote); err != nil {
		c.differ(failsAfterOurs, "%s", out)
	}
	hasProviders := providerText(lock) != ""
	if more := c.requests(func(path string) bool { return !hasProviders || !isQuestion(path) }); len(more) > 0 {
		c.differ(requestsAfterOurs, "%s", strings.Join(more, "\n"))
	}
	c.diff(lockAfterOurs, lock, c.ours.lock(t))
	c.diff(filesAfterOurs, modules.manifest, c.ours.installed(t).manifest)
	c.diff(filesAfterOurs, providers, c.ours.providers(t))
}

// installAgain runs Cotter's installation again, which must have nothing to do.
func (c *initComparison) installAgain(ctx context.Context, t *testing.T, in *installer.Installer, remote bool) {
	t.Helper()
	before := listing(t, c.dir, false)
	c.world.ResetRequests()
	if _, err := in.Install(ctx, c.request(remote).Project, c.request(remote).InstallOptions); err != nil {
		c.differ(secondFails, "%v", err)
	}
	if requests := c.requests(func(string) bool { return true }); len(requests) > 0 {
		c.differ(secondAsks, "%s", strings.Join(requests, "\n"))
	}
	c.diff(secondChanges, before, listing(t, c.dir, false))
}

// isQuestion reports whether a request's path is that of a discovery document or of a list of a
// provider's versions, which stock tools request even if everything is installed.
func isQuestion(path string) bool {
	return path == "/.well-known/terraform.json" || strings.HasPrefix(path, "/v1/providers/") && strings.HasSuffix(path, "/versions")
}

func (c *initComparison) requests(wanted func(path string) bool) []string {
	var requests []string
	for _, r := range c.world.Requests() {
		if wanted(r.Path) {
			requests = append(requests, r.String())
		}
	}
	return requests
}

// services returns the services of each registry that the world serves.
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

// installer returns an installer with an empty cache, for which the world serves all registries.
func (c *initComparison) installer(t *testing.T) *installer.Installer {
	t.Helper()
	return installer.New(installer.Options{
		HTTPClient: c.world.HTTPClient(),
		Services:   c.services(),
		Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: append(append(os.Environ(), c.world.Env()...), c.env...)}},
		CacheDir:   t.TempDir(),
		StateDir:   c.state,
		OnEvent:    c.record,
	})
}

// init runs the stock tool's init. Without a remote backend, it reads the local state.
func (c *initComparison) init(ctx context.Context, t *testing.T, dir string, remote bool) (string, error) {
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
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), c.world.Env()...), "TF_CLI_CONFIG_FILE="+config, "TF_DATA_DIR="+c.ours.req.DataDir,
		"TF_PLUGIN_CACHE_DIR=", "TF_WORKSPACE=", "CHECKPOINT_DISABLE=1", "HOME="+t.TempDir())
	cmd.Env = append(cmd.Env, c.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// lock returns the text of the stock tools' lock.
func (c *comparison) lock(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.req.Dir, ".terraform.lock.hcl"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// providers returns the files of all installed providers by their paths. Links are followed. The
// empty files that tofu locks during an installation are ignored.
func (c *comparison) providers(t *testing.T) map[string]string {
	t.Helper()
	tree := installedTree{files: map[string]string{}}
	dir := filepath.Join(c.req.Dir, orElse(c.req.DataDir, ".terraform"), "providers")
	if err := tree.read("", dir, 0); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	maps.DeleteFunc(tree.files, func(name, text string) bool { return strings.HasSuffix(name, ".lock") && text == "" })
	return tree.files
}

var providerBlock = regexp.MustCompile(`(?m)^provider "`)

// providerText returns the provider blocks of a lock that has them after all module blocks.
func providerText(lock string) string {
	at := providerBlock.FindStringIndex(lock)
	if at == nil {
		return ""
	}
	return lock[at[0]:]
}

// hasRemoteBackend reports whether the configuration in a directory keeps its state elsewhere.
func hasRemoteBackend(ctx context.Context, dir string) bool {
	backend, err := configs.Reader{}.ReadBackend(ctx, configs.Dir{Path: dir})
	return err == nil && backend.Type != "" && backend.Type != "local"
}
