//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// hostileWorld has two versions of each package: one for the project under test, and one for
// another project.
const hostileWorld = `
-- registry/acme/net/aws/1.1.0/main.tf --
# net 1.1.0
-- registry/acme/net/aws/1.0.0/main.tf --
# net 1.0.0
-- git/mono.git/v1.0.0/modules/dns/main.tf --
# dns 1.0.0
-- git/mono.git/v1.0.0/main.tf --
# mono 1.0.0
-- git/mono.git/v1.0.0/shared/x --
x 1.0.0
-- git/mono.git/v0.9.0/modules/dns/main.tf --
# dns 0.9.0
-- git/mono.git/v0.9.0/main.tf --
# mono 0.9.0
-- git/mono.git/v0.9.0/shared/x --
x 0.9.0
-- git/evil.git/v1.0.0/modules/dns/main.tf --
# evil
-- archives/n.zip/main.tf --
# zip
-- archives/other.zip/main.tf --
# other zip
`

const hostileConfig = `module "net" {
  source  = "HOST/acme/net/aws"
  version = "~> 1.1"
}
module "dns" {
  source = "git::https://HOST/git/mono.git//modules/dns?ref=v1.0.0"
}
module "zip" {
  source = "https://HOST/archives/n.zip"
}
module "app" {
  source = "./app"
}
`

// asOther turns a configuration into that of the other project.
var asOther = strings.NewReplacer("~> 1.1", "1.0.0", "v1.0.0", "v0.9.0", "n.zip", "other.zip")

// hostileOrigins are parts of the request paths to the modules' origins.
var hostileOrigins = []string{"acme/net", "/git/mono.git", "/archives/n.zip"}

// hostileSite is an installed project with the directories of its user, and with files
// outside them that no run may change.
type hostileSite struct {
	world *modtest.World
	warm  *workers
	base  string // contains all directories below

	project, cache, state, home, tmp string

	outside string // files to which only planted links point
	other   string // another installed project of the same user, with its own cache
	saved   string // copies of project, cache, state, and the cache's git

	good    map[string]string            // the project as it was installed
	was     map[string]map[string]string // files of project, cache and state, as in saved
	chowned bool                         // whether files have another owner, which was does not show
}

// newHostileSite installs both projects.
func newHostileSite(t *testing.T) *hostileSite {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(base, name) }
	s := &hostileSite{
		world: modtest.NewWith(t, modtest.Txtar(hostileWorld), modtest.Options{Archives: true}), warm: newHostileWorkers(t), base: base,
		project: in("project"), cache: in("cache"), state: in("state"), home: in("home"), tmp: in("tmp"),
		outside: in("outside"), other: in("other"), saved: in("saved"), was: map[string]map[string]string{},
	}
	for _, dir := range []string{s.home, s.tmp, s.state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := strings.ReplaceAll(hostileConfig, "HOST", string(s.world.Host()))
	writeText(t, filepath.Join(s.project, "main.tf"), config)
	writeText(t, filepath.Join(s.project, "app/main.tf"), "# app\n")
	writeText(t, filepath.Join(s.other, "project/main.tf"), asOther.Replace(config))
	writeText(t, filepath.Join(s.other, "project/app/main.tf"), "# other app\n")
	writeText(t, filepath.Join(s.other, "state/cotter/key"), strings.Repeat("k", 32))
	writeText(t, filepath.Join(s.home, "cli.tfrc"), "")

	another := *s
	another.project, another.cache = filepath.Join(s.other, "project"), filepath.Join(s.other, "cache")
	for _, site := range []*hostileSite{&another, s} {
		if end := site.run("install", installedGit...); end.status != 0 {
			t.Fatalf("the first installation: status %d\n%s", end.status, end.out)
		}
	}
	s.good = pictured(t, s.project, isBookkeeping)
	git := filepath.Join(s.cache, "git")
	for _, dir := range []string{git, s.project, s.cache, s.state} {
		if err := copyTree(filepath.Join(s.saved, filepath.Base(dir)), dir, false); err != nil {
			t.Fatal(err)
		}
		if dir == git {
			remove(t, git)
		}
		s.was[dir] = pictured(t, dir, nil)
	}
	return s
}

// locate returns the location of a path of the table.
func (s *hostileSite) locate(file string) string {
	return expandHostile(s.named(file), s.project, s.cache, s.state)
}

// twin returns the location of the same path in the other project.
func (s *hostileSite) twin(file string) string {
	return expandHostile(s.named(file), filepath.Join(s.other, "project"), filepath.Join(s.other, "cache"), filepath.Join(s.other, "state"))
}

// named returns a path of the table with the names that the cache under test uses.
func (s *hostileSite) named(file string) string {
	if _, err := os.Lstat(filepath.Join(s.saved, "cache/vouched")); err == nil {
		return strings.Replace(file, "@cache/confirmed", "@cache/vouched", 1)
	}
	return file
}

func expandHostile(file, project, cache, state string) string {
	if rest, ok := strings.CutPrefix(file, "@cache"); ok {
		return filepath.Join(cache, rest)
	}
	if rest, ok := strings.CutPrefix(file, "@state"); ok {
		return filepath.Join(state, "cotter", rest)
	}
	return filepath.Join(project, file)
}

// reset restores everything as it was installed. The cache's git repositories, the largest
// part, are restored only if withGit is set.
func (s *hostileSite) reset(t *testing.T, withGit bool) {
	t.Helper()
	for _, dir := range []string{s.project, s.cache, s.state} {
		if !s.chowned && maps.Equal(s.was[dir], pictured(t, dir, nil)) {
			continue // writing all files again would take longer than the test
		}
		remove(t, dir)
		s.restore(t, dir)
	}
	s.chowned = false
	if withGit {
		s.restore(t, filepath.Join(s.cache, "git"))
	}
	for _, dir := range []string{s.tmp, s.outside} {
		remove(t, dir)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeText(t, filepath.Join(s.outside, "file"), "# outside\n")
	writeText(t, filepath.Join(s.outside, "dir/main.tf"), "# outside\n")
	makeFIFO(t, filepath.Join(s.outside, "fifo"))
	s.world.ResetRequests()
}

// restore copies a directory back from its saved copy.
func (s *hostileSite) restore(t *testing.T, dir string) {
	t.Helper()
	if err := copyTree(dir, filepath.Join(s.saved, filepath.Base(dir)), false); err != nil {
		t.Fatal(err)
	}
}

// hostileStates are the states of the project and the cache before a file is replaced.
var hostileStates = map[string]func(t *testing.T, s *hostileSite){
	// installed is a project as the last run left it.
	"installed": func(*testing.T, *hostileSite) {},
	// cold is an installed project with an empty cache.
	"cold": func(t *testing.T, s *hostileSite) { remove(t, s.cache) },
	// edited is an installed project with a changed file in a module.
	"edited": func(t *testing.T, s *hostileSite) {
		writeText(t, filepath.Join(s.project, ".terraform/modules/net/main.tf"), "# edited\n")
	},
	// dropped is an installed project with a lock from which a stock tool has removed all
	// module entries.
	"dropped": func(t *testing.T, s *hostileSite) {
		name := filepath.Join(s.project, lockFile)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		writeText(t, name, regexp.MustCompile(`(?s)\nmodule .*`).ReplaceAllString(string(text), ""))
	},
	// checkout is a project with a lock and nothing installed.
	"checkout": dropInstalled,
	// unanswered is a checkout with a cache that has no stored answers of fetches.
	"unanswered": func(t *testing.T, s *hostileSite) {
		dropInstalled(t, s)
		remove(t, s.locate("@cache/fetch"))
	},
	// new is a project without a lock and with nothing installed.
	"new": func(t *testing.T, s *hostileSite) {
		dropInstalled(t, s)
		remove(t, filepath.Join(s.project, lockFile))
	},
	// damaged is a checkout with a cache whose packages have changed.
	"damaged": func(t *testing.T, s *hostileSite) {
		dropInstalled(t, s)
		for _, tree := range s.targets(t, "@cache/tree/<hex>/") {
			writeText(t, filepath.Join(tree.path, "main.tf"), "# damaged\n")
		}
	},
	// refetch is a checkout with a cache that has only git repositories. The run uses them
	// for all packages from git.
	"refetch": func(t *testing.T, s *hostileSite) {
		dropInstalled(t, s)
		for _, name := range []string{"tree", "fetch", "confirmed"} {
			remove(t, s.locate("@cache/"+name))
		}
	},
}

func dropInstalled(t *testing.T, s *hostileSite) {
	t.Helper()
	remove(t, filepath.Join(s.project, ".terraform"))
}

// installedGit makes a command use the installed git, and the git repositories in the cache,
// for all modules from repositories.
var installedGit = []string{"COTTER_GIT_BACKEND=git", "COTTER_ALWAYS_GIT=1"}

// hostileDeadline is far longer than any run takes. It ends a run that hangs.
const hostileDeadline = 20 * time.Second

type ending struct {
	status int
	hung   bool
	out    string
	memory int64 // the peak memory of its worker, in bytes
}

func (s *hostileSite) env() []string {
	return append(append(os.Environ(), s.world.Env()...), "CI=", "NO_COLOR=1", "CHECKPOINT_DISABLE=1", "GIT_CONFIG_NOSYSTEM=1",
		"HOME="+s.home, "TMPDIR="+s.tmp, "XDG_STATE_HOME="+s.state, "COTTER_STATE_KEY=", "COTTER_CACHE_DIR="+s.cache, "COTTER_GIT_BACKEND=go", "COTTER_ALWAYS_GIT=",
		"TF_DATA_DIR=", "TF_WORKSPACE=", "TF_CLI_CONFIG_FILE="+filepath.Join(s.home, "cli.tfrc"))
}

// newHostileWorkers returns workers whose commands are killed at the deadline.
func newHostileWorkers(t *testing.T) *workers {
	t.Helper()
	w := &workers{deadline: hostileDeadline}
	w.start = func() *exec.Cmd {
		cmd := exec.Command(cotterBinary)
		// A git process that waits for a hostile file would keep the output open.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.WaitDelay = time.Second
		return cmd
	}
	w.kill = func(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	t.Cleanup(func() {
		if err := w.endIdle(); err != nil {
			t.Errorf("a worker: %v", err)
		}
	})
	return w
}

func (s *hostileSite) run(command string, env ...string) ending {
	end, err := s.warm.do(workerCommand{s.project, append(s.env(), env...), strings.Fields(command)})
	if err != nil {
		return ending{status: -1, hung: errors.Is(err, context.DeadlineExceeded), out: err.Error()}
	}
	return ending{status: end.Status, out: string(end.Out), memory: end.Memory}
}
