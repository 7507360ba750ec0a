package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// The recipes are the files in examples/recipes, which the page docs/ci.md shows or links to. Each test
// here acts as the service that reads a recipe: it takes the commands out of the file and
// runs them on a machine that has only the programs of the service or of the image in the
// recipe.

// installCotter is the command that installs Cotter on a machine. It would need the
// internet, so the machines have the Cotter of these tests instead.
const installCotter = `go install "github.com/cotterpin/cotter/cmd/cotter@$COTTER_VERSION"`

// documentedVersion is the version of Cotter in the README, the pages, the recipes and the
// example of the action. After a release, change it here and run
// go test ./cmd/cotter -run TestPinnedVersions -update.
const documentedVersion = "v0.1.0"

const recipeWorld = `
-- registry/acme/network/aws/1.2.3/main.tf --
module "tags" {
  source = "MODTEST_HOST/acme/tags/aws"
}
-- registry/acme/tags/aws/0.4.0/main.tf --
# tags
-- git/platform.git/v2.1.0/modules/dns/main.tf --
# dns
-- providers/acme/cloud/1.2.0/PLATFORM/terraform-provider-cloud_v1.2.0 --
cloud
-- repo/envs/dev/main.tf --
module "dns" {
  source = "git::https://MODTEST_HOST/git/platform.git//modules/dns?ref=v2.1.0"
}
-- repo/envs/prod/main.tf --
terraform {
  required_providers {
    cloud = { source = "MODTEST_HOST/acme/cloud" }
  }
}
module "network" {
  source  = "MODTEST_HOST/acme/network/aws"
  version = "~> 1.2"
}
module "dns" {
  source = "git::https://MODTEST_HOST/git/platform.git//modules/dns?ref=v2.1.0"
}
-- repo/envs/prod/project.tofu --
# for tofu
-- repo/envs/dev/project.tofu --
# for tofu
`

// recipes is a repository whose root modules are locked, and the servers with their modules
// and providers.
type recipes struct {
	world *modtest.World
	// commit is a directory with the files of the repository.
	commit string
}

// TestRecipes runs the recipes one after another, because they count the requests to one
// world.
func TestRecipes(t *testing.T) {
	t.Parallel()
	r := newRecipes(t)
	t.Run("github", func(t *testing.T) { r.github(t, "github.yml") })
	t.Run("github-go", func(t *testing.T) { r.github(t, "github-go.yml") })
	t.Run("gitlab", r.gitlab)
	t.Run("pre-commit", r.preCommit)
	t.Run("atlantis", r.atlantis)
	t.Run("terragrunt", r.terragrunt)
	t.Run("docker", r.docker)
}

func newRecipes(t *testing.T) *recipes {
	t.Helper()
	tree := strings.ReplaceAll(recipeWorld, "PLATFORM", addrs.CurrentPlatform().String())
	r := &recipes{world: modtest.New(t, modtest.Txtar(tree))}
	author := r.machine(t, "git")
	r.commit = r.world.Dir(t, "repo")
	author.mustRun(t, r.commit, "cotter", "install", "--recursive", ".")
	for _, root := range []string{"envs/dev", "envs/prod"} {
		remove(t, filepath.Join(r.commit, root, ".terraform"))
	}
	return r
}

// machine is a machine with an empty home and few programs.
type machine struct {
	world     *modtest.World
	home, bin string
	env       []string
}

// machine returns a machine that has Cotter and some programs. Programs that are not
// installed on this system are missing on the machine; see has.
func (r *recipes) machine(t *testing.T, programs ...string) *machine {
	t.Helper()
	base := t.TempDir()
	m := &machine{world: r.world, home: filepath.Join(base, "home"), bin: filepath.Join(base, "bin")}
	for _, dir := range []string{m.home, m.bin} {
		testenv.Must(t, os.Mkdir(dir, 0o755))
	}
	files := map[string]string{"cotter": cotterBinary}
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			files[name] = path
		}
	}
	for name, path := range files {
		testenv.Must(t, os.Symlink(path, filepath.Join(m.bin, name)))
	}
	m.env = []string{"HOME=" + m.home, "PATH=" + m.bin, "SSL_CERT_DIR=" + os.Getenv("SSL_CERT_DIR")}
	for _, entry := range r.world.Env() {
		if strings.HasPrefix(entry, "SSL_CERT_FILE=") {
			m.env = append(m.env, entry)
		}
	}
	return m
}

// has reports whether a program is installed, and logs a message if it is not.
func (m *machine) has(t *testing.T, program string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(m.bin, program))
	if err != nil {
		t.Logf("%s is not installed, so its commands are not run", program)
	}
	return err == nil
}

func (m *machine) run(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(m.bin, program), args...)
	cmd.Dir, cmd.Env = dir, m.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (m *machine) mustRun(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	out, err := m.run(dir, program, args...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return out
}

// with returns a copy of the machine with additional environment variables.
func (m *machine) with(entries ...string) *machine {
	other := *m
	other.env = append(append([]string{}, m.env...), entries...)
	return &other
}

// checkout returns a new copy of a directory of the repository.
func (r *recipes) checkout(t *testing.T, dir string) string {
	t.Helper()
	base := t.TempDir()
	to := filepath.Join(base, "repo")
	testenv.Must(t, os.CopyFS(to, os.DirFS(filepath.Join(r.commit, dir))))
	return to
}

// requests runs a function and returns the number of requests that were sent meanwhile.
func (r *recipes) requests(do func()) int {
	r.world.ResetRequests()
	do()
	return len(r.world.Requests())
}

// downloads returns the number of provider archives that were downloaded since the last call
// of requests.
func (r *recipes) downloads() int {
	count := 0
	for _, request := range r.world.Requests() {
		if strings.HasPrefix(request.Path, "/providers/") {
			count++
		}
	}
	return count
}

func (r *recipes) sameLocks(t *testing.T, checkout string, roots ...string) {
	t.Helper()
	for _, root := range roots {
		r.sameLock(t, filepath.Join(checkout, root), root)
	}
}

// sameLock compares the lock in a directory with the lock of a root module in the
// repository.
func (r *recipes) sameLock(t *testing.T, dir, root string) {
	t.Helper()
	want := readFile(t, filepath.Join(r.commit, root, lockFile))
	got, err := os.ReadFile(filepath.Join(dir, lockFile))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the lock of %s was changed (%v):\n%s", root, err, got)
	}
}

func readRecipe(t *testing.T, name string) []byte {
	t.Helper()
	text := readFile(t, filepath.Join("../../examples/recipes", name))
	return text
}

// withoutInstallation removes the command that installs Cotter, which a recipe must have.
func withoutInstallation(t *testing.T, commands []string) []string {
	t.Helper()
	var rest []string
	for _, command := range commands {
		if !strings.Contains(command, installCotter) {
			rest = append(rest, command)
		}
	}
	if len(rest) != len(commands)-1 {
		t.Fatalf("the command %q is not once in %q", installCotter, commands)
	}
	return rest
}

// TestRecipesInPage compares the blocks of docs/ci.md with the recipes that are named in the
// comments above them. To the other recipes, the page has links. With -update, the recipes are written to the page.
func TestRecipesInPage(t *testing.T) {
	t.Parallel()
	const page, begin, fence = "../../docs/ci.md", "<!-- recipe: ", "```"
	text := readFile(t, page)
	shown := map[string]bool{}
	parts := strings.Split(string(text), begin)
	for i, part := range parts[1:] {
		name, rest, _ := strings.Cut(part, " -->\n")
		open, block, _ := strings.Cut(rest, "\n")
		block, after, found := strings.Cut(block, fence)
		recipe := string(readRecipe(t, name))
		if !strings.HasPrefix(open, fence) || !found || block != recipe && !*update {
			t.Errorf("the block of the page below %s is not the recipe; -update puts it there", name)
		}
		parts[i+1] = name + " -->\n" + open + "\n" + recipe + fence + after
		shown[name] = true
	}
	if *update {
		testenv.WriteFile(t, page, strings.Join(parts, begin))
	}
	files, err := os.ReadDir("../../examples/recipes")
	testenv.Must(t, err)
	for _, file := range files {
		if !shown[file.Name()] && !strings.Contains(string(text), "/examples/recipes/"+file.Name()+")") {
			t.Errorf("the page neither shows %s nor has a link to it", file.Name())
		}
	}
}

// TestPinnedVersions checks that the README, the pages and the recipes name one version of
// Cotter where they install it, and never the newest, which would change between two runs.
// Only for trying it out, a command may install the main branch.
func TestPinnedVersions(t *testing.T) {
	t.Parallel()
	names := []string{"../../README.md", "../../.pre-commit-hooks.yaml"}
	for _, pattern := range []string{"../../docs/*.md", "../../site/*.md", "../../examples/recipes/*"} {
		found, err := filepath.Glob(pattern)
		testenv.Must(t, err)
		names = append(names, found...)
	}
	pins := regexp.MustCompile(`(cotterpin/cotter(?:/cmd/[a-z-]+)?@|COTTER_VERSION(?:: |=)|\brev: |\bversion: |main\.release=|\bcotter_)(v?[0-9]\S*?\.[0-9]+\.[0-9]+|latest|v[0-9]+\b)`)
	for _, name := range names {
		text := readFile(t, name)
		pinned := pins.ReplaceAllStringFunc(string(text), func(match string) string {
			prefix := pins.FindStringSubmatch(match)[1]
			if prefix == "cotter_" { // the name of an archive
				return prefix + strings.TrimPrefix(documentedVersion, "v")
			}
			return prefix + documentedVersion
		})
		if *update && pinned != string(text) {
			testenv.WriteFile(t, name, pinned)
			continue
		}
		if diff := cmp.Diff(strings.Split(pinned, "\n"), strings.Split(string(text), "\n")); diff != "" {
			t.Errorf("%s does not pin %s; -update does (-want +got):\n%s", name, documentedVersion, diff)
		}
	}
}
