package installer_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// sameLockWorld has a provider for three platforms.
const sameLockWorld = `
-- providers/acme/cloud/1.0.0/PLATFORM/terraform-provider-cloud --
cloud
-- providers/acme/cloud/1.0.0/plan9_mips/terraform-provider-cloud --
cloud of plan9
-- providers/acme/cloud/1.0.0/plan9_arm/terraform-provider-cloud --
cloud of plan9 on arm
`

var plan9 = addrs.Platform{OS: "plan9", Arch: "mips"}

// sameLock is a world in which a provider block is completed.
type sameLock struct {
	*providerWorld
	files map[string]string
	// mirror is a mirror with the same packages.
	mirror getproviders.FilesystemMirror
}

func newSameLock(t *testing.T) *sameLock {
	t.Helper()
	w := &sameLock{providerWorld: newProviderWorld(t, sameLockWorld, modtest.Options{})}
	w.files = map[string]string{"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = "1.0.0" }`)}
	w.mirror.Dir = t.TempDir()
	testenv.Must(t, w.WriteProviderMirror(w.mirror.Dir, modtest.ProviderMirror{}))
	return w
}

// lock returns a lock with hashes, each "h1" or "zh" and a platform.
func (w *sameLock) lock(t *testing.T, hashes string) string {
	t.Helper()
	var lines []string
	for name := range strings.FieldsSeq(hashes) {
		scheme, platform, _ := strings.Cut(name, "/")
		if platform == "" {
			platform = addrs.CurrentPlatform().String()
		}
		h1, zh, err := w.ProviderHashes("acme/cloud", "1.0.0", platform)
		testenv.Must(t, err)
		h := map[string]hashing.Hash{"h1": h1, "zh": zh, "zz": "zz:1"}[scheme]
		lines = append(lines, fmt.Sprintf("    %q,\n", h))
	}
	slices.Sort(lines)
	return fmt.Sprintf("provider %q {\n  version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  hashes = [\n%s  ]\n}\n", w.ProviderSource("acme/cloud"), strings.Join(lines, ""))
}

// sameLockHashes are hashes that a lock can have before the run.
var sameLockHashes = []string{"h1", "zh", "h1 zh", "h1 zh/plan9_arm", "h1 h1/plan9_mips", "zh zh/plan9_arm zh/plan9_mips", "h1 zh zh/plan9_arm zh/plan9_mips", "zz", "zz h1"}

// sameLockStates are what a machine and a project have before the run, other than nothing. Each returns the
// installer for the run, and may write to the project.
var sameLockStates = map[string]func(t *testing.T, w *sameLock, dir string) *installer.Installer{
	"a warm cache": func(t *testing.T, w *sameLock, _ string) *installer.Installer {
		return w.warm(t, request{Project: installer.Project{Dir: w.project(t, w.files)}})
	},
	"a cache that was warmed by this lock": func(t *testing.T, w *sameLock, dir string) *installer.Installer {
		other := w.project(t, map[string]string{"main.tf": w.files["main.tf"], ".terraform.lock.hcl": fileIn(t, dir, ".terraform.lock.hcl")})
		return w.warm(t, request{Project: installer.Project{Dir: other}})
	},
	"a cache that was warmed by a mirror": func(t *testing.T, w *sameLock, _ string) *installer.Installer {
		return w.warm(t, request{Project: installer.Project{Dir: w.project(t, w.files), ProviderSource: w.mirror}})
	},
	"a cache of another user": func(t *testing.T, w *sameLock, _ string) *installer.Installer {
		in := with(w.warm(t, request{Project: installer.Project{Dir: w.project(t, w.files)}}), func(o *installer.Options) { o.StateDir = t.TempDir() })
		return in
	},
	"an installation": func(t *testing.T, w *sameLock, dir string) *installer.Installer {
		lock := fileIn(t, dir, ".terraform.lock.hcl")
		in := w.warm(t, request{Project: installer.Project{Dir: dir}})
		writeLock(t, dir, lock)
		return in
	},
	"the installation of another tool": func(t *testing.T, w *sameLock, dir string) *installer.Installer {
		w.unpack(t, filepath.Join(dir, ".terraform/providers"))
		return w.Installer()
	},
	"a plugin cache": func(t *testing.T, w *sameLock, _ string) *installer.Installer {
		in := with(w.Installer(), func(o *installer.Options) { o.PluginCacheDir = t.TempDir() })
		w.unpack(t, in.Options().PluginCacheDir)
		return in
	},
	"a plugin cache and a warm cache without packages": func(t *testing.T, w *sameLock, _ string) *installer.Installer {
		in := with(w.warm(t, request{Project: installer.Project{Dir: w.project(t, w.files)}}), func(o *installer.Options) { o.PluginCacheDir = t.TempDir() })
		w.unpack(t, in.Options().PluginCacheDir)
		packages := filepath.Join(in.Options().CacheDir, "provider", "package")
		testenv.Must(t, os.RemoveAll(packages))
		return in
	},
}

// warm returns a new installer that has done a run.
func (w *sameLock) warm(t *testing.T, req request) *installer.Installer {
	t.Helper()
	in := w.Installer()
	req.Scope = installer.ScopeAll
	req.Platforms = []addrs.Platform{plan9}
	mustInstall(t, in, req.Project, req.InstallOptions)
	return in
}

// unpack unpacks the package of this platform below a directory, as stock tools do.
func (w *sameLock) unpack(t *testing.T, dir string) {
	t.Helper()
	at := filepath.Join(dir, filepath.FromSlash(w.ProviderSource("acme/cloud")), "1.0.0", addrs.CurrentPlatform().String())
	testenv.Must(t, os.MkdirAll(at, 0o755))
	testenv.Must(t, os.WriteFile(filepath.Join(at, "terraform-provider-cloud"), []byte("cloud\n"), 0o755))
}

func writeLock(t *testing.T, dir, text string) {
	t.Helper()
	testenv.Must(t, os.WriteFile(filepath.Join(dir, ".terraform.lock.hcl"), []byte(text), 0o644))
}

// The lock after a run depends on the configuration, the lock before it and the flags, and not on
// what the machine or the project has installed.
func TestSameLock(t *testing.T) {
	t.Parallel()
	other := []addrs.Platform{plan9}
	for name, run := range testenv.SampleMap(map[string]struct {
		req    request
		mirror bool
		// mayFail says that locks with other archives than the mirror's are refused.
		mayFail bool
	}{
		"install":                {req: request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}},
		"install from a mirror":  {request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}, true, false},
		"lock":                   {req: request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, LockOnly: true}}},
		"lock --platform":        {req: request{Project: installer.Project{Platforms: other}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, LockOnly: true}}},
		"lock --platform mirror": {request{Project: installer.Project{Platforms: other}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, LockOnly: true}}, true, true},
		"update":                 {req: request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll, Update: installer.Update{All: true}}}},
	}, "install") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newSameLock(t)
			for _, hashes := range sameLockHashes {
				lock := w.lock(t, hashes)
				var cold string
				for _, state := range append([]string{"nothing"}, slices.Sorted(maps.Keys(sameLockStates))...) {
					dir := w.project(t, w.files)
					writeLock(t, dir, lock)
					in := w.Installer()
					if prepare := sameLockStates[state]; prepare != nil {
						in = prepare(t, w, dir)
					}
					req := run.req
					req.Dir = dir
					if run.mirror {
						req.ProviderSource = w.mirror
					}
					_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
					after := fileIn(t, dir, ".terraform.lock.hcl")
					if err != nil && !run.mayFail {
						t.Fatalf("%s, %s: %v", hashes, state, err)
					} else if err != nil {
						after = "an error and " + after
					}
					if state == "nothing" {
						cold = after
					}
					if diff := cmp.Diff(cold, after); diff != "" {
						t.Errorf("the lock has %s, the machine has %s: the lock (-with nothing +with that):\n%s", hashes, state, w.plain(diff))
					}
				}
				if name == "install" {
					w.compareWithStock(t, lock, cold)
				}
			}
		})
	}
}

func (w *sameLock) compareWithStock(t *testing.T, before, after string) {
	t.Helper()
	for dialect, binary := range stockTools(t) {
		dir := w.project(t, w.files)
		writeLock(t, dir, before)
		cmd := exec.CommandContext(t.Context(), binary, "init", "-no-color", "-input=false")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), w.Env()...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s init: %v\n%s", dialect, err, out)
		}
		stock := fileIn(t, dir, ".terraform.lock.hcl")
		after := strings.Replace(after, "    \"zz:1\",\n", "", 1) // an unknown scheme, which stays here
		if diff := cmp.Diff(stock[strings.Index(stock, "provider "):], after[strings.Index(after, "provider "):]); diff != "" {
			t.Errorf("the lock (-%s +cotter):\n%s\nbefore:\n%s", dialect, w.plain(diff), w.plain(before))
		}
	}
}

// The same holds for module blocks: with fewer hashes than Cotter writes, with unknown ones, and
// without an entry.
func TestSameLockOfModules(t *testing.T) {
	t.Parallel()
	w := modtest.New(t, modtest.Txtar(`
-- git/net.git/v1.0.0/main.tf --
-- registry/acme/app/aws/1.0.0/main.tf --
-- archives/tools.zip/main.tf --
-- oci/disk/1.0.0/main.tf --
`))
	files := map[string]string{"main.tf": fmt.Sprintf("module \"net\" {\n  source = %q\n}\nmodule \"app\" {\n  source = %q\n}\nmodule \"tools\" {\n  source = %q\n}\nmodule \"disk\" {\n  source = %q\n}\n",
		w.GitSource("net.git", "?ref=v1.0.0"), w.Source("acme/app/aws"), w.ArchiveSource("tools.zip", ""), w.OCISource("disk", "?tag=1.0.0"))}
	install := func(t *testing.T, in *installer.Installer, lock string) (dir, after string) {
		t.Helper()
		dir = writeProject(t, files, "")
		if lock != "" {
			writeLock(t, dir, lock)
		}
		mustInstall(t, in, installer.Project{Dir: dir}, installer.InstallOptions{})
		return dir, fileIn(t, dir, ".terraform.lock.hcl")
	}
	_, whole := install(t, w.Installer(), "")
	if strings.Count(whole, `"zh:`) != 2 {
		t.Fatalf("the lock has no zh hashes of the archive and the artifact:\n%s", whole)
	}
	without := func(schemes string) string {
		return regexp.MustCompile(`(?m)^ *"(`+schemes+`):.*\n`).ReplaceAllString(whole, "")
	}
	for name, lock := range map[string]string{
		"no lock": "", "whole": whole, "no zh": without("zh"), "h1 only": without("zh|t1"), "t1 only": without("zh|h1"),
		"an unknown scheme": strings.ReplaceAll(without("zh"), "  hashes = [\n", "  hashes = [\n    \"zz:1\",\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			warm := w.Installer()
			_, cold := install(t, warm, lock)
			_, cached := install(t, warm, lock)
			dir, _ := install(t, warm, "")
			if lock != "" {
				writeLock(t, dir, lock)
			}
			mustInstall(t, warm, installer.Project{Dir: dir}, installer.InstallOptions{})
			other := with(warm, func(o *installer.Options) { o.StateDir = t.TempDir() })
			_, unsealed := install(t, other, lock)
			for state, after := range map[string]string{"a warm cache": cached, "an installation": fileIn(t, dir, ".terraform.lock.hcl"), "a cache of another user": unsealed} {
				if diff := cmp.Diff(cold, after); diff != "" {
					t.Errorf("with %s, the lock (-with nothing +with that):\n%s", state, diff)
				}
			}
		})
	}
}
