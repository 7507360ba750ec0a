//go:build linux || darwin

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// matrixFiles are the archives of the worlds: what other tests install.
var matrixFiles = []string{
	"testdata/script/*.txtar", "testdata/stock/*.txtar", goldenDir + "/world.txtar",
	"../../installer/testdata/corpus/*.txtar", "../../installer/testdata/install/*.txtar",
}

func matrixWorlds(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range matrixFiles {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no worlds: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// matrixWorld is what servers have, and the files of the projects that use it.
type matrixWorld struct {
	name string // such as "corpus/nested"
	// servers and config are the files of both, by path.
	servers, config fstest.MapFS
	opts            modtest.Options
	// env are the variables of all runs, in which MODTEST_HOST stands for the servers.
	env []string
	// The options of testdata/corpus and testdata/install of package installer, as its README has them.
	tool, dataDir, lockFile, gitConfig string
	links                              map[string]string

	world *modtest.World // the servers, since start
}

// start starts the servers.
func (w *matrixWorld) start(t *testing.T) {
	t.Helper()
	if w.needsOtherPlatform() {
		t.Skip("the providers are for another platform")
	}
	w.world = modtest.NewWith(t, w.servers, w.opts)
}

// readMatrixWorld reads an archive. In those of this package, what is not the servers' is a project.
func readMatrixWorld(t *testing.T, file string) *matrixWorld {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	testenv.Must(t, err)
	w := &matrixWorld{name: filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar"), servers: fstest.MapFS{}, config: fstest.MapFS{}, links: make(map[string]string)}
	for line := range strings.Lines(string(archive.Comment)) {
		w.option(strings.TrimSpace(line))
	}
	isServed := regexp.MustCompile(`^(world/)?((registry|git|archives|oci|providers)/.*)$`)
	for _, f := range archive.Files {
		file := &fstest.MapFile{Data: f.Data, Mode: 0o644}
		switch served := isServed.FindStringSubmatch(f.Name); {
		case served != nil:
			w.servers[served[2]] = file
		case f.Name == "gitconfig":
			w.gitConfig = string(f.Data)
		case !strings.HasPrefix(f.Name, "want"):
			name := strings.TrimPrefix(strings.TrimPrefix(f.Name, "config/"), "project/")
			w.config[name] = file
		}
	}
	return w
}

func (w *matrixWorld) option(line string) {
	option, value, _ := strings.Cut(line, ": ")
	name, target, _ := strings.Cut(value, " -> ")
	switch option {
	case "tool", "for":
		w.tool = value
	case "data-dir":
		w.dataDir = value
	case "lock-file":
		w.lockFile = value
	case "link":
		w.links[name] = target
	case "package-link":
		w.servers[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
	case "var":
		w.env = append(w.env, "TF_VAR_"+value)
	}
}

// write writes a copy of the projects.
func (w *matrixWorld) write(t *testing.T, dir string) {
	t.Helper()
	for name, file := range w.config {
		text := bytes.ReplaceAll(file.Data, []byte(modtest.HostPlaceholder), []byte(w.world.Host()))
		testenv.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), string(text))
	}
	for name, target := range w.links {
		testenv.Must(t, os.Symlink(strings.ReplaceAll(target, "DIR", dir), filepath.Join(dir, name)))
	}
}

// roots returns the root modules, relative to the projects.
func (w *matrixWorld) roots(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	w.write(t, dir)
	found, err := repository.Roots(t.Context(), installer.New(installer.Options{}), dir, repository.RootsOptions{})
	testenv.Must(t, err)
	var roots []string
	for _, root := range found {
		rel, err := filepath.Rel(dir, root)
		testenv.Must(t, err)
		roots = append(roots, filepath.ToSlash(rel))
	}
	slices.SortFunc(roots, strings.Compare)
	return roots
}

// needsOtherPlatform reports whether the servers have providers for linux_amd64 only, and this machine is another.
func (w *matrixWorld) needsOtherPlatform() bool {
	has, all := false, false
	for name := range w.servers {
		if strings.HasPrefix(name, "providers/") {
			all = true
			has = has || path.Base(path.Dir(name)) == addrs.CurrentPlatform().String()
		}
	}
	return all && !has
}

// user returns a user with an empty home directory, an empty cache, and a copy of the projects.
func (w *matrixWorld) user(t *testing.T, layout string) *site {
	t.Helper()
	path := os.Getenv("PATH") + string(filepath.ListSeparator) + bothStockTools(t)
	s := newSite(t, w.world, append([]string{"COTTER_LAYOUT=" + layout, "TF_DATA_DIR=" + w.dataDir, "PATH=" + path}, w.env...)...)
	var config strings.Builder
	for host, services := range matrixServices(w.world) {
		fmt.Fprintf(&config, "host %q {\n  services = {\n", host)
		for name, address := range services {
			fmt.Fprintf(&config, "    %q = %q\n", name, address)
		}
		config.WriteString("  }\n}\n")
	}
	testenv.WriteFile(t, filepath.Join(s.home, "cli.tfrc"), config.String())
	// The registries above are on this machine, so that the user has to allow it.
	testenv.WriteFile(t, filepath.Join(s.home, ".config/cotter/cotter.hcl"), fmt.Sprintf("local_hosts = [%q]\n", w.world.Host()))
	if w.gitConfig != "" {
		name := filepath.Join(s.home, "gitconfig")
		testenv.WriteFile(t, name, strings.ReplaceAll(w.gitConfig, modtest.HostPlaceholder, string(w.world.Host())))
		s.env = append(s.env, "GIT_CONFIG_GLOBAL="+name)
	}
	if w.lockFile != "" {
		name := filepath.Join(s.home, "settings.hcl")
		testenv.WriteFile(t, name, fmt.Sprintf("settings {\n  lock_file = %q\n}\n", w.lockFile))
		s.env = append(s.env, "COTTER_SETTINGS="+name)
	}
	w.write(t, s.project)
	return s
}

// matrixServices are those of the registries of both stock tools, which each world serves.
func matrixServices(world *modtest.World) map[addrs.Hostname]map[string]any {
	own := map[string]any{"modules.v1": world.URL() + "/v1/modules/", "providers.v1": world.URL() + "/v1/providers/"}
	return map[addrs.Hostname]map[string]any{addrs.DefaultRegistryHost: own, addrs.TerraformRegistryHost: own}
}
