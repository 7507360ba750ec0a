package main

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const renovateWorld = `
-- registry/acme/network/aws/1.0.0/main.tf --
-- registry/acme/logs/aws/1.0.0/main.tf --
-- registry/acme/vpc/aws/1.0.0/main.tf --
-- git/dns.git/v1.0.0/main.tf --
-- main.tf --
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "~> 1.0"
}
module "logs" {
  source  = "MODTEST_HOST/acme/logs/aws"
  version = "~> 1.0.0"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/dns.git?version=~> 1.0"
}
-- envs/dev/cotter.hcl --
settings {
  lock_file = ".cotter.lock.hcl"
}
-- envs/dev/main.tf --
module "vpc" {
  source  = "MODTEST_HOST/acme/vpc/aws"
  version = "~> 1.0"
}
`

// TestRenovateLookup runs the real Renovate over a repository with two locks, see needRenovate. On a local directory, Renovate only looks updates up, so
// the test runs the preset's commands for each: those of allowed versions write the lock, and the one of a version that a
// constraint excludes fails and changes nothing.
func TestRenovateLookup(t *testing.T) {
	t.Parallel()
	renovate, node := needRenovate(t)
	needCommands(t, "git")
	files := modtest.Txtar(renovateWorld)
	world := modtest.New(t, files)
	s := newSite(t, world, "COTTER_GIT_BACKEND=auto")
	for _, name := range []string{"main.tf", "envs/dev/main.tf", "envs/dev/cotter.hcl"} {
		text, err := fs.ReadFile(files, name)
		testenv.Must(t, err)
		s.write(t, name, string(text))
	}
	for _, line := range []string{"install", "--chdir envs/dev install"} {
		if end := s.run(line); end.status != 0 {
			t.Fatalf("cotter %s: %s", line, end.out)
		}
	}
	testenv.WriteFile(t, filepath.Join(s.project, "renovate.json"), string(readFile(t, "../../renovate/cotter.json")))
	testenv.WriteFile(t, filepath.Join(s.project, ".gitignore"), ".terraform/\n")
	git := func(args ...string) {
		command := exec.Command("git", append([]string{"-C", s.project, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "locks")
	newer := modtest.Txtar("-- main.tf --\n# newer\n")
	for _, name := range []string{"network", "logs", "vpc"} {
		for _, version := range []string{"1.1.0", "2.0.0"} {
			testenv.Must(t, world.PublishVersion("acme/"+name+"/aws", version, newer))
		}
	}
	testenv.Must(t, world.PublishTag("dns.git", "v1.2.0", newer))

	found := renovateUpdates(t, s, renovate, node)
	want := []string{
		".terraform.lock.hcl dns 1.2.0", ".terraform.lock.hcl logs 1.1.0", ".terraform.lock.hcl network 1.1.0", "envs/dev/.cotter.lock.hcl vpc 1.1.0",
	}
	if diff := gocmp.Diff(want, found); diff != "" {
		t.Fatalf("the updates that Renovate finds (-want +got):\n%s", diff)
	}
	for _, update := range found {
		fields := strings.Fields(update)
		lock, isExcluded := fields[0], fields[1] == "logs"
		before := readFile(t, filepath.Join(s.project, lock))
		end := s.run("--chdir ./" + path.Dir(lock) + " update --to " + fields[2] + " -- " + fields[1])
		if changed := string(readFile(t, filepath.Join(s.project, lock))) != string(before); isExcluded != (end.status != 0) || isExcluded == changed {
			t.Errorf("%s: status %d, the lock has changed: %v\n%s", update, end.status, changed, end.out)
		}
		if again := s.run("--chdir ./" + path.Dir(lock) + " install --locked"); again.status != 0 {
			t.Errorf("%s: install --locked: %s", update, again.out)
		}
	}
}

// needRenovate returns the directory of Renovate's npm package, and the node that runs it.
func needRenovate(t *testing.T) (renovate, node string) {
	t.Helper()
	if renovate = os.Getenv("COTTER_TEST_RENOVATE"); renovate == "" {
		t.Skip("COTTER_TEST_RENOVATE does not name a directory with Renovate")
	}
	return renovate, cmp.Or(os.Getenv("COTTER_TEST_NODE"), "node")
}

// renovateUpdates returns what Renovate would update, each as lock, call and version.
func renovateUpdates(t *testing.T, s *site, renovate, node string) []string {
	t.Helper()
	authority := ""
	for _, variable := range s.world.Env() {
		if name, value, _ := strings.Cut(variable, "="); name == "SSL_CERT_FILE" {
			authority = value
		}
	}
	testenv.WriteFile(t, filepath.Join(s.home, ".gitconfig"), "[http]\n  sslCAInfo = "+filepath.ToSlash(authority)+"\n") // Renovate does not pass GIT_SSL_CAINFO on
	command := exec.Command(node, filepath.Join(renovate, "dist/renovate.js"), "--platform=local", "--require-config=ignored", "--onboarding=false", "--enabled-managers=custom.regex")
	command.Dir = s.project
	command.Env = append(s.environment(), "LOG_LEVEL=debug", "LOG_FORMAT=json", "RENOVATE_BASE_DIR="+s.tmp, "PATH="+filepath.Dir(node)+string(os.PathListSeparator)+os.Getenv("PATH"), "NODE_EXTRA_CA_CERTS="+authority)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("renovate: %v\n%s", err, out)
	}
	var updates []string
	enabled := "no"
	for line := range strings.Lines(string(out)) {
		var record struct {
			Msg    string `json:"msg"`
			Config map[string][]struct {
				PackageFile string `json:"packageFile"`
				Deps        []struct {
					DepName string `json:"depName"`
					Updates []struct {
						NewValue   string `json:"newValue"`
						UpdateType string `json:"updateType"`
					} `json:"updates"`
				} `json:"deps"`
			} `json:"config"`
		}
		if json.Unmarshal([]byte(line), &record) != nil {
			continue
		}
		if count, ok := strings.CutSuffix(strings.SplitN(record.Msg, ":", 2)[0], " flattened updates found"); ok {
			enabled = count
		}
		if record.Msg != "packageFiles with updates" {
			continue
		}
		for _, file := range record.Config["regex"] {
			for _, dep := range file.Deps {
				for _, update := range dep.Updates {
					if update.UpdateType != "major" { // which the preset disables
						updates = append(updates, file.PackageFile+" "+dep.DepName+" "+update.NewValue)
					}
				}
			}
		}
	}
	if enabled != strconv.Itoa(len(updates)) {
		t.Errorf("after the rules of the preset, %s updates are left, want %d", enabled, len(updates))
	}
	slices.Sort(updates)
	return updates
}
