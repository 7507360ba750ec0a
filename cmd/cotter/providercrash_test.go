package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// providerCrashWorld has a module, and a provider that the module requires.
const providerCrashWorld = `
-- project/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/any"
  version = "~> 1.0"
}
-- registry/acme/net/any/1.0.0/main.tf --
terraform {
  required_providers {
    cloud = {
      source  = "MODTEST_HOST/acme/cloud"
      version = "~> 1.0"
    }
  }
}
-- providers/acme/cloud/1.0.0/PLATFORM/terraform-provider-cloud --
right
-- providers/acme/cloud/1.0.0/PLATFORM/LICENSE --
free
`

// TestProviderCrash kills real processes before each named step of an installation with
// providers, and also makes each of these steps fail. Afterwards the provider's directory
// has its earlier content, nothing, or the whole package. Stock tools and Cotter can
// continue from each of these states. Terraform can do so only with copies, because it writes
// to packages that are not in the lock yet.
func TestProviderCrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args string
		// there is the content of the provider's executable before the command, which then places
		// copies.
		there string
		tools []string // stock tools that continue
	}{
		"links":                           {"install --for tofu", "", []string{"tofu"}},
		"copies for terraform":            {"install --for terraform", "", []string{"tofu", "terraform"}},
		"copies, where a killed tool was": {"install --for tofu", "rig", []string{"tofu", "terraform"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newProviderScene(t, c.args, c.there)
			s.tools = c.tools
			steps := s.steps(t)
			want := s.picture(t)
			for _, number := range testenv.Sample(s.named(t, steps), func(number int) string { return kindOfStep(steps[number]) }) {
				name := steps[number]
				s.testKill(t, want, number, name)
				if c.there == "" {
					s.testFault(t, want, number, name)
				}
			}
		})
	}
}

type providerScene struct {
	*crashScene
	// there is the content of the provider's executable before the command; "" if there is
	// none.
	there string
	// tools are the stock tools that continue from the states.
	tools []string
	// seen are the states from which stock tools have already continued.
	seen map[string]bool
}

func newProviderScene(t *testing.T, args, there string) *providerScene {
	t.Helper()
	tree := modtest.Txtar(strings.ReplaceAll(providerCrashWorld, "PLATFORM", addrs.CurrentPlatform().String()))
	s := &providerScene{there: there, seen: make(map[string]bool)}
	s.crashScene = newCrashSceneIn(t, modtest.NewWith(t, tree, modtest.Options{Archives: true}), args, func(c *crashScene) {
		if there != "" {
			setting(t, `layout = "copy"`)(c)
			testenv.WriteFile(t, filepath.Join(providerPlace(c), "terraform-provider-cloud"), there)
		}
	})
	return s
}

// providerPlace returns the directory in which stock tools look for the provider.
func providerPlace(s *crashScene) string {
	return filepath.Join(s.project, ".terraform/providers", s.world.ProviderSource("acme/cloud"), "1.0.0", addrs.CurrentPlatform().String())
}

// named returns the first step of each name that is about providers, and the step that
// writes the lock, by their numbers. TestCrash covers the other steps.
func (s *providerScene) named(t *testing.T, steps []string) []int {
	t.Helper()
	var found []int
	for number, name := range steps {
		if slices.Index(steps, name) == number && (strings.HasPrefix(name, "provider.") || name == "project.lock.rename") {
			found = append(found, number)
		}
	}
	if len(found) < 12 {
		t.Errorf("there are %d steps, want at least 12: %v", len(found), steps)
	}
	return found
}

// testKill kills the command before a step.
func (s *providerScene) testKill(t *testing.T, want map[string]string, number int, name string) {
	t.Helper()
	s.restore(t, "before")
	out, killed := s.kill(t, number)
	if !killed {
		return
	}
	at := fmt.Sprintf("killed before step %d, about %s", number, name)
	s.checkVisible(t, at)
	s.checkStock(t, at)
	s.runAgain(t, at)
	if diff := cmp.Diff(want, s.picture(t)); diff != "" {
		t.Errorf("%s, and run again (-undisturbed +got):\n%s\n%s", at, diff, out)
	}
	s.checkLeftovers(t, at)
}

// testFault makes a step fail. If the user's store or links cannot be used, packages are
// copied instead.
func (s *providerScene) testFault(t *testing.T, want map[string]string, number int, name string) {
	t.Helper()
	s.restore(t, "before")
	fault := diskFaults[number%len(diskFaults)]
	at := fmt.Sprintf("%v at step %d, about %s", fault, number, name)
	end, lock := s.fail(number, fault), s.lockText(t)
	switch {
	case end.status == 0 && (lock == "" || !strings.HasSuffix(want[lockFile], lock)):
		t.Errorf("%s: success, with the lock\n%s", at, lock)
	case end.status != 0 && (lock != "" || end.status != 1 || !strings.Contains(end.out, "Error: ")):
		t.Errorf("%s: status %d, with the lock\n%s\n%s", at, end.status, lock, end.out)
	}
	s.checkVisible(t, at)
	s.runAgain(t, at)
	s.checkVisible(t, at+", and run again")
	if program, err := os.ReadFile(filepath.Join(providerPlace(s.crashScene), "terraform-provider-cloud")); err != nil || string(program) != "right\n" {
		t.Errorf("%s, and run again: at the place is %q, %v", at, program, err)
	}
	s.checkLeftovers(t, at)
}

// checkVisible fails if stock tools see an incomplete package.
func (s *providerScene) checkVisible(t *testing.T, at string) {
	t.Helper()
	place := providerPlace(s.crashScene)
	if _, err := os.Lstat(place); err != nil {
		return
	}
	program, err := os.ReadFile(filepath.Join(place, "terraform-provider-cloud"))
	_, license := os.Stat(filepath.Join(place, "LICENSE"))
	isWhole := string(program) == "right\n" && license == nil
	if !isWhole && (s.there == "" || string(program) != s.there) {
		t.Errorf("%s: at the place is a package with %q, %v, %v", at, program, err, license)
	}
}

// checkStock runs the init of the stock tools, once in each state that they can
// distinguish.
func (s *providerScene) checkStock(t *testing.T, at string) {
	t.Helper()
	state := fmt.Sprint(stockView(t, s.project))
	for _, name := range []string{lockFile, providerPlace(s.crashScene) + "/terraform-provider-cloud"} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.project, name)
		}
		text, err := os.ReadFile(name)
		state += fmt.Sprintf("%s %v\n", text, err != nil)
	}
	if s.seen[state] {
		return
	}
	s.seen[state] = true
	for _, tool := range s.tools {
		binary, err := exec.LookPath(tool)
		if err != nil {
			t.Logf("%s is not installed, so it was not asked", tool)
			continue
		}
		dir := filepath.Join(t.TempDir(), "project") // a copy, because Cotter continues in the original
		testenv.Must(t, copyTree(dir, s.project))
		cmd := exec.Command(binary, "init", "-no-color", "-input=false")
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), s.world.Env()...), "HOME="+s.home)
		out, err := cmd.CombinedOutput()
		// A package that tofu itself has not finished makes tofu fail as long as it is
		// there.
		if err != nil && (s.there == "" || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), "local modifications")) {
			t.Errorf("%s: %s init: %v\n%s", at, tool, err, out)
		}
	}
}
