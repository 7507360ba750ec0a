//go:build linux || darwin

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const hostileConfig = `module "net" {
  source  = "MODTEST_HOST/acme/plain/aws"
  version = "~> 1.1"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/mono.git//modules/dns?ref=v1.0.0"
}
module "zip" {
  source = "https://MODTEST_HOST/archives/n.zip"
}
module "app" {
  source = "./app"
}
`

// asOther turns a configuration into that of the other project.
var asOther = strings.NewReplacer("~> 1.1", "1.0.0", "v1.0.0", "v0.9.0", "n.zip", "other.zip")

// hostileOrigins are parts of the request paths to the modules' origins.
var hostileOrigins = []string{"acme/plain", "/git/mono.git", "/archives/n.zip"}

// hostileSite is a site with files outside it that no run may change.
type hostileSite struct {
	*site
	outside string // files to which only planted links point
	other   *site  // another installed project of the same user, with its own cache and another key
	git     string // a copy of the cache's git repositories, the largest part of it
}

// newHostileSite installs both projects. Its commands are killed at a deadline.
func newHostileSite(t *testing.T) *hostileSite {
	t.Helper()
	world := modtest.NewWith(t, withOddFiles(t, modtest.Txtar(tamperWorld)), modtest.Options{Archives: true})
	s := &hostileSite{site: newSite(t, world, "COTTER_GIT_BACKEND=go")}
	s.workers = newHostileWorkers(t)
	s.outside, s.git = filepath.Join(s.base, "outside"), filepath.Join(s.base, "git")

	other := *s.site
	s.other = &other
	other.project, other.cache = filepath.Join(s.base, "other/project"), filepath.Join(s.base, "other/cache")
	other.write(t, "main.tf", asOther.Replace(hostileConfig))
	other.write(t, "app/main.tf", "# other app\n")
	s.write(t, "main.tf", hostileConfig)
	s.write(t, "app/main.tf", "# app\n")
	for _, site := range []*site{s.other, s.site} {
		site.env = append(site.env, installedGit...)
		site.install(t)
		site.env = site.env[:1]
	}
	s.good = s.pictureProject(t)
	other.state = filepath.Join(s.base, "other/state")
	testenv.WriteFile(t, s.other.locate("@state/key"), strings.Repeat("k", 32))
	testenv.Must(t, os.Rename(s.locate("@cache/git"), s.git))
	s.save(t, "installed")
	return s
}

// reset restores everything as it was installed, except for the cache's git repositories.
func (s *hostileSite) reset(t *testing.T) {
	t.Helper()
	s.restore(t, "installed")
	for _, dir := range []string{s.tmp, s.outside} {
		remove(t, dir)
		testenv.Must(t, os.Mkdir(dir, 0o755))
	}
	testenv.WriteFile(t, filepath.Join(s.outside, "file"), "# outside\n")
	testenv.WriteFile(t, filepath.Join(s.outside, "dir/main.tf"), "# outside\n")
	makeFIFO(t, filepath.Join(s.outside, "fifo"))
	s.world.ResetRequests()
}

// restoreGit restores the cache's git repositories.
func (s *hostileSite) restoreGit(t *testing.T) {
	t.Helper()
	remove(t, s.locate("@cache/git"))
	copyOf(t, s.locate("@cache/git"), s.git)
}

// hostileStates are the states of the project and the cache before a file is replaced.
var hostileStates = map[string]func(t *testing.T, s *hostileSite){
	// installed is a project as the last run left it.
	"installed": func(*testing.T, *hostileSite) {},
	// cold is an installed project with an empty cache.
	"cold": func(t *testing.T, s *hostileSite) { remove(t, s.cache) },
	// edited is an installed project with a changed file in a module.
	"edited": func(t *testing.T, s *hostileSite) { s.write(t, modules+"net/main.tf", "# edited\n") },
	// dropped is an installed project with a lock from which a stock tool has removed all
	// module entries.
	"dropped": func(t *testing.T, s *hostileSite) {
		s.write(t, lockFile, regexp.MustCompile(`(?s)\nmodule .*`).ReplaceAllString(s.lockText(t), ""))
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
		remove(t, s.locate(lockFile))
	},
	// damaged is a checkout with a cache whose packages have changed.
	"damaged": func(t *testing.T, s *hostileSite) {
		dropInstalled(t, s)
		for _, tree := range s.targets(t, "@cache/tree/<hex>/") {
			testenv.WriteFile(t, filepath.Join(tree.path, "main.tf"), "# damaged\n")
		}
	},
	// refetch is a checkout with a cache that has only git repositories. The run uses them
	// for all packages from git.
	"refetch": func(t *testing.T, s *hostileSite) {
		dropInstalled(t, s)
		for _, name := range []string{"tree", "fetch", "confirmed"} {
			remove(t, s.locate("@cache/"+name))
		}
		s.restoreGit(t)
	},
}

func dropInstalled(t *testing.T, s *hostileSite) {
	t.Helper()
	remove(t, s.locate(".terraform"))
}

// installedGit makes a command use the installed git, and the git repositories in the cache,
// for all modules from repositories.
var installedGit = []string{"COTTER_GIT_BACKEND=git"}

// hostileDeadline is far longer than any run takes. It ends a run that hangs.
const hostileDeadline = 20 * time.Second

// newHostileWorkers returns workers whose commands are killed at the deadline.
func newHostileWorkers(t *testing.T) *workers {
	t.Helper()
	w := &workers{deadline: hostileDeadline, measured: true}
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
