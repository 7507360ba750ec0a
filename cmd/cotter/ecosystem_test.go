package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// TestCommandsOfFiles checks the command lines in the files with which other programs run
// cotter: the commands and their flags exist.
func TestCommandsOfFiles(t *testing.T) {
	t.Parallel()
	app := testApp()
	line := regexp.MustCompile(`(?:entry: |\$\(|"|run: |\$ )(cotter [^"')` + "`" + `\n]*)`)
	for _, name := range []string{".pre-commit-hooks.yaml", "action.yml", "renovate/cotter.json", "docs/ci.md", "examples/recipes/github-bots.yml"} {
		text := readFile(t, filepath.Join("../..", name))
		found := line.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no command line", name)
		}
		for _, match := range found {
			if !strings.Contains(match[1], "${") {
				checkExample(t, app, example{name, strings.TrimSpace(match[1])})
			}
		}
	}
}

// TestActionsPinned checks that a moved tag of an action changes nothing in the workflows and in Cotter's own action.
func TestActionsPinned(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../.github/workflows/*.yml")
	testenv.Must(t, err)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, name := range append(names, "../../action.yml") {
		uses := regexp.MustCompile(`(?m)uses: (.*)$`).FindAllSubmatch(readFile(t, name), -1)
		if len(uses) == 0 {
			t.Errorf("%s uses no action", name)
		}
		for _, use := range uses {
			if !pinned.Match(use[1]) {
				t.Errorf("%s uses %s, want a commit, and its version as a comment", name, use[1])
			}
		}
	}
}

// TestHookFiles checks that a hook runs for a commit of every file that can change what it says.
func TestHookFiles(t *testing.T) {
	t.Parallel()
	hooks := regexp.MustCompile(`(?m)^  files: '(.*)'$`).FindAllSubmatch(readFile(t, "../../.pre-commit-hooks.yaml"), -1)
	for _, hook := range hooks {
		files := regexp.MustCompile(string(hook[1]))
		for _, name := range []string{"main.tf", "envs/x.tofu.json", ".terraform.lock.hcl", "envs/.cotter.lock.hcl", "cotter.hcl"} {
			if !files.MatchString(name) {
				t.Errorf("%s does not match %s", files, name)
			}
		}
	}
	if len(hooks) != 2 {
		t.Errorf("%d hooks, want 2", len(hooks))
	}
}

// renovatePreset has the parts of renovate/cotter.json that the tests read.
type renovatePreset struct {
	Managers []struct {
		FilePatterns []string `json:"managerFilePatterns"`
		MatchStrings []string `json:"matchStrings"`
		Datasource   string   `json:"datasourceTemplate"`
	} `json:"customManagers"`
	Rules []struct {
		Tasks struct{ Commands []string } `json:"postUpgradeTasks"`
	} `json:"packageRules"`
}

func readRenovatePreset(t *testing.T) renovatePreset {
	t.Helper()
	text := readFile(t, "../../renovate/cotter.json")
	var preset renovatePreset
	testenv.Must(t, json.Unmarshal(text, &preset))
	return preset
}

func (p renovatePreset) reads(name string) bool {
	for _, manager := range p.Managers {
		for _, pattern := range manager.FilePatterns {
			if regexp.MustCompile(strings.Trim(pattern, "/")).MatchString(name) {
				return true
			}
		}
	}
	return false
}

// finds returns what the patterns of the preset find in a lock, each as call, version, package,
// data source and host.
func (p renovatePreset) finds(lock []byte) []string {
	var found []string
	for _, manager := range p.Managers {
		for _, pattern := range manager.MatchStrings {
			re := regexp.MustCompile(pattern)
			for _, match := range re.FindAllSubmatch(lock, -1) {
				field := func(name string) string {
					if i := re.SubexpIndex(name); i >= 0 {
						return string(match[i])
					}
					return ""
				}
				found = append(found, strings.Join([]string{field("depName"), field("currentValue"), field("packageName"), manager.Datasource, field("host")}, " "))
			}
		}
	}
	return found
}

func (p renovatePreset) commands(lockName, module string) []string {
	var commands []string
	fill := strings.NewReplacer("{{{packageFile}}}", lockName, "{{{packageFileDir}}}", path.Dir(lockName), "{{{depName}}}", module, "{{{newValue}}}", "1.1.0")
	for _, rule := range p.Rules {
		for _, command := range rule.Tasks.Commands {
			commands = append(commands, fill.Replace(command))
		}
	}
	return commands
}

// renovateLock returns a lock with each kind of source, as cotter writes it.
func renovateLock(t *testing.T) []byte {
	t.Helper()
	lock, err := lockfile.Parse(nil, ".terraform.lock.hcl")
	testenv.Must(t, err)
	for _, m := range []lockfile.Module{
		{Key: "app", Source: testenv.Source("git::https://example.com/app.git")},
		{Key: "archive", Source: testenv.Source("https://example.com/a.zip")},
		{Key: "dns", Version: versions.MustParse("0.4.0"), Source: testenv.Source("oci://registry.example.com:5000/modules/dns//zone")},
		{Key: "net", Version: versions.MustParse("2.0.1"), Source: testenv.Source("git::https://example.com/platform/net.git//modules/net?depth=1"), Constraints: versions.MustParseConstraints("~> 2.0")},
		{Key: "net.ssh", Version: versions.MustParse("1.0.0"), Source: testenv.Source("git::ssh://git@example.com/ssh.git")},
		{Key: "vpc", Version: versions.MustParse("3.19.0"), Source: testenv.Source("registry.opentofu.org/terraform-aws-modules/vpc/aws//modules/x"), Constraints: versions.MustParseConstraints("~> 3.0")},
		{Key: "vpc.own", Version: versions.MustParse("1.0.0-rc.1"), Source: testenv.Source("registry.corp.example:8443/acme/own/aws")},
	} {
		m.Hashes = []hashing.Hash{"h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="}
		m.Package = testenv.Package("git::https://example.com/x.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0")
		lock.SetModule(m)
	}
	return lock.Bytes()
}

// renovateWant is what Renovate must find in that lock: call, version, package and the place
// to look up new versions.
var renovateWant = []string{
	"vpc 3.19.0 terraform-aws-modules/vpc/aws terraform-module registry.opentofu.org",
	"vpc.own 1.0.0-rc.1 acme/own/aws terraform-module registry.corp.example:8443",
	"net 2.0.1 https://example.com/platform/net.git git-tags ",
	"net.ssh 1.0.0 ssh://git@example.com/ssh.git git-tags ",
	"dns 0.4.0 registry.example.com:5000/modules/dns docker ",
}

// TestRenovate matches locks against the patterns of renovate/cotter.json, with an engine
// that uses the same syntax as Renovate.
func TestRenovate(t *testing.T) {
	t.Parallel()
	preset, lock := readRenovatePreset(t), renovateLock(t)
	if !preset.reads("envs/dev/.terraform.lock.hcl") || !preset.reads("envs/dev/.cotter.lock.hcl") || !preset.reads(".terraform.lock.hcl") || preset.reads("x.terraform.lock.hcl") {
		t.Error("the preset reads other files than locks")
	}
	if diff := cmp.Diff(renovateWant, preset.finds(lock)); diff != "" {
		t.Errorf("what the patterns find (-want +got):\n%s\nin\n%s", diff, lock)
	}
}

// TestRenovateCommands checks that nobody who writes to a repository decides what Renovate runs,
// beyond the module and the directory: neither by the preset's patterns, nor by the list of
// allowed commands in the recipe, which is all that holds if another preset finds the names.
func TestRenovateCommands(t *testing.T) {
	t.Parallel()
	preset, app := readRenovatePreset(t), testApp()
	recipe := readRecipe(t, "renovate.js")
	var allowed []*regexp.Regexp
	for _, quoted := range regexp.MustCompile(`(?m)^ +'(\^.*\$)',$`).FindAllSubmatch(recipe, -1) {
		allowed = append(allowed, regexp.MustCompile(strings.ReplaceAll(string(quoted[1]), `\\`, `\`)))
	}
	runs := func(command string) bool {
		return slices.ContainsFunc(allowed, func(re *regexp.Regexp) bool { return re.MatchString(command) })
	}
	entry := func(name string) []byte {
		return []byte("# a lock\n/*\nmodule \"" + name + "\" {\n  version = \"1.0.0\"\n  source  = \"registry.example.com/a/b/c\"\n}\n*/\n")
	}
	for _, name := range []string{"network", "app.net-1", "_x"} {
		if len(preset.finds(entry(name))) != 1 {
			t.Errorf("the preset does not find the module %q", name)
		}
	}
	for _, name := range []string{
		"--allow-file-reads", "-q", "--", "x --allow-file-reads", "x\t--allow-file-reads", "x; id", "$(id)", "`id`", "x|id", "x&id", "x>y",
		"..", ".", "./x", "../x", "/etc", "~", "x/../../y", "x'", "", "x\n", "{{{env.TOKEN}}}",
	} {
		if found := preset.finds(entry(name)); found != nil {
			t.Errorf("the preset finds the module %q", found)
		}
		if command := preset.commands(".terraform.lock.hcl", name)[1]; runs(command) {
			t.Errorf("the recipe allows %q", command)
		}
	}
	if found := preset.finds([]byte(strings.ReplaceAll(string(entry("network")), "module", "# module"))); found != nil {
		t.Errorf("the preset finds %q, which is a comment", found)
	}
	for _, dir := range []string{".", "envs/dev", "-x", "--allow-file-reads", "a.b/..c", ".github"} {
		name := path.Join(dir, ".terraform.lock.hcl")
		if !preset.reads(name) {
			t.Errorf("the preset does not read %s", name)
		}
		for _, command := range preset.commands(name, "network") {
			if !runs(command) {
				t.Errorf("the recipe does not allow %q", command)
			}
			words := strings.Fields(command)
			if words[0] != "cotter" {
				continue
			}
			found, rest, err := app.Find(longFlags(app, words[1:]))
			if err == nil {
				err = found.ParseFlags(rest)
			}
			line := &invocation{found, found.Flags().Args()}
			if err != nil || line.String("chdir") != "./"+dir || line.Bool("allow-file-reads") || !slices.Equal(line.Args(), []string{"network"}) {
				t.Errorf("%q is read as chdir %q and %q: %v", command, line.String("chdir"), line.Args(), err)
			}
		}
	}
	for _, dir := range []string{"..", "../x", "x/../../y", "/etc", "x y", "x --allow-file-reads", "$(id)", "x;id", "x//y", ":(top)x", "*"} {
		name := dir + "/.terraform.lock.hcl"
		if preset.reads(name) {
			t.Errorf("the preset reads %s", name)
		}
		commands := preset.commands(name, "network")
		commands[1] = strings.Replace(commands[1], path.Dir(name), dir, 1) // as it is, not cleaned
		for _, command := range commands {
			if runs(command) {
				t.Errorf("the recipe allows %q", command)
			}
		}
	}
}

// TestHostileNamesInHooks runs the hooks that Cotter offers, and those of the recipes, in a
// repository whose directories and calls are called like flags. No hook passes a name of the
// repository, so nothing reads the file that the configuration names.
func TestHostileNamesInHooks(t *testing.T) {
	t.Parallel()
	var lines []string
	entry := regexp.MustCompile(`(?m)(?:entry: |run: |command: |default: |^ *- )((?:cotter )?(?:install|lock|verify) [^"\n]*)$`)
	for _, name := range []string{".pre-commit-hooks.yaml", "action.yml", "examples/recipes/pre-commit.yaml", "examples/recipes/atlantis.yaml", "examples/recipes/gitlab.yml", "examples/recipes/github.yml", "examples/recipes/github-go.yml", "examples/recipes/github-bots.yml"} {
		text := readFile(t, filepath.Join("../..", name))
		if strings.Contains(string(text), "pass_filenames: true") || regexp.MustCompile(`run: .*\$\{\{`).Match(text) {
			t.Errorf("%s puts names on a command line", name)
		}
		found := entry.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no command line", name)
		}
		for _, match := range found {
			lines = append(lines, strings.TrimPrefix(match[1], "cotter "))
		}
	}
	const canary = "canary-of-the-host"
	secret, world := filepath.Join(t.TempDir(), "secret"), modtest.New(t, fstest.MapFS{})
	testenv.WriteFile(t, secret, canary)
	for _, line := range lines {
		words := strings.Fields(line)
		if last := words[len(words)-1]; last == "envs" { // the recipe's own directory
			words[len(words)-1] = "."
		}
		s := newSite(t, world)
		for _, dir := range []string{".", "--allow-file-reads", "x --allow-file-reads"} {
			s.write(t, filepath.Join(dir, "--allow-file-reads.tf"), "terraform {\n}\nmodule \"a\" {\n  source = file(\""+filepath.ToSlash(secret)+"\")\n}\n")
		}
		end := s.run(strings.Join(words, " "))
		if end.status == 0 || strings.Contains(end.out, canary) {
			t.Errorf("cotter %q: status %d\n%s", words, end.status, end.out)
		}
	}
}

// TestRenovateExtraction runs Renovate's own extraction on the same lock.
func TestRenovateExtraction(t *testing.T) {
	t.Parallel()
	renovate, node := needRenovate(t)
	lock, preset := filepath.Join(t.TempDir(), "lock.hcl"), "../../renovate/cotter.json"
	testenv.WriteFile(t, lock, string(renovateLock(t)))
	out, err := exec.Command(node, "testdata/renovate.mjs", renovate, preset, lock).Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	if diff := cmp.Diff(strings.Join(renovateWant, "\n")+"\n", string(out)); diff != "" {
		t.Errorf("what Renovate finds (-want +got):\n%s", diff)
	}
}

// TestActionInstall runs the action's script against a server with releases.
func TestActionInstall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the script needs the programs of a Unix")
	}
	programs, gh := programsOfInstaller(t)
	archive := releaseArchive(t, "#!/bin/sh\ntest \"$*\" = --version && echo cotter v1.2.3\n")
	name := fmt.Sprintf("cotter_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	var sums string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/latest":
			http.Redirect(w, r, "/tag/v1.2.3", http.StatusFound)
		case "/tag/v1.2.3":
		case "/download/v1.2.3/" + name:
			_, _ = w.Write(archive)
		case "/download/v1.2.3/checksums.txt":
			_, _ = w.Write([]byte(sums))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	good := sum + "  " + name + "\n"
	checked := "gh attestation verify " + name + " --repo cotterpin/cotter"
	unchecked := "the provenance of " + name + " was not checked: "
	for _, test := range []struct {
		name, version, sums, token, path string
		require                          string // the third argument
		fails                            bool
		want                             string
	}{
		{name: "a version", version: "v1.2.3", sums: good, token: "token", path: gh, want: checked},
		{name: "the newest one", version: "latest", sums: strings.Repeat("0", 64) + "  other.tar.gz\n" + good, token: "token", path: gh, want: checked},
		{name: "a bill of materials of the archive", version: "v1.2.3", sums: good + strings.Repeat("0", 64) + "  " + name + ".sbom.json\n", token: "token", path: gh, want: checked},
		{name: "another checksum", version: "v1.2.3", sums: strings.Repeat("0", 64) + "  " + name + "\n", fails: true, want: "FAILED"},
		{name: "no checksum", version: "v1.2.3", sums: strings.Repeat("0", 64) + "  other.tar.gz\n", fails: true},
		{name: "a version that does not exist", version: "v9.9.9", fails: true, want: "404"},
		{name: "no version", version: "1; touch evil", fails: true, want: "is no version"},
		{name: "another provenance", version: "v1.2.3", sums: good, token: "refused", path: gh, fails: true, want: checked},
		{name: "no token", version: "v1.2.3", sums: good, path: gh, want: "::warning::" + unchecked + "there is no token\n"},
		{name: "no gh", version: "v1.2.3", sums: good, token: "token", want: "::warning::" + unchecked + "gh is not installed\n"},
		{name: "required", version: "v1.2.3", sums: good, token: "token", path: gh, require: "--require-provenance", want: checked},
		{name: "required, no token", version: "v1.2.3", sums: good, path: gh, require: "--require-provenance", fails: true, want: "::error::" + unchecked + "there is no token\n"},
		{name: "required, no gh", version: "v1.2.3", sums: good, token: "token", require: "--require-provenance", fails: true, want: "::error::" + unchecked + "gh is not installed\n"},
		{name: "required, with a slip", version: "v1.2.3", sums: good, token: "token", path: gh, require: "--require", fails: true, want: "install.sh has no argument --require\n"},
	} {
		sums = test.sums
		dir := t.TempDir()
		path := filepath.Join(dir, "path")
		args := []string{"../../action/install.sh", test.version, filepath.Join(dir, "bin")}
		if test.require != "" {
			args = append(args, test.require)
		}
		cmd := exec.Command("bash", args...)
		cmd.Env = append(os.Environ(), "COTTER_RELEASES_URL="+server.URL, "GH_TOKEN="+test.token, "PATH="+programs+string(os.PathListSeparator)+test.path, "GITHUB_PATH="+path, "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
		out, err := cmd.CombinedOutput()
		_, missing := os.Stat(path)
		installed := err == nil && missing == nil && strings.Contains(string(out), "cotter v1.2.3")
		stopped := err != nil && missing != nil && !strings.Contains(string(out), "cotter v1.2.3")
		if !test.fails && !installed || test.fails && !stopped || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: %v, want %q\n%s", test.name, err, test.want, out)
		}
	}
}

// programsOfInstaller returns two directories for PATH: one with what the installer needs, and one
// with gh. Nothing else is in PATH, so gh is missing where it is installed, too.
func programsOfInstaller(t *testing.T) (programs, gh string) {
	t.Helper()
	programs, gh = t.TempDir(), t.TempDir()
	for _, program := range []string{"bash", "sh", "curl", "tar", "gzip", "awk", "uname", "mkdir", "sha256sum", "shasum", "perl"} {
		path, err := exec.LookPath(program)
		if err != nil && slices.Contains([]string{"sha256sum", "shasum", "perl"}, program) {
			continue // one of the two is enough
		}
		if err != nil {
			t.Skipf("%s is not installed", program)
		}
		testenv.Must(t, os.Symlink(path, filepath.Join(programs, program)))
	}
	testenv.WriteProgram(t, filepath.Join(gh, "gh"), "#!/bin/sh\necho gh \"$@\"\ntest $GH_TOKEN != refused\n")
	return programs, gh
}

func releaseArchive(t *testing.T, program string) []byte {
	t.Helper()
	var text bytes.Buffer
	compressed := gzip.NewWriter(&text)
	files := tar.NewWriter(compressed)
	testenv.Must(t, files.WriteHeader(&tar.Header{Name: "cotter", Mode: 0o755, Size: int64(len(program))}))
	if _, err := files.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, files.Close())
	testenv.Must(t, compressed.Close())
	return text.Bytes()
}

// TestImageDirectories checks that a user of the image has directories of their own, below those
// that all users of the image can write to.
func TestImageDirectories(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the image is for Linux")
	}
	text := readFile(t, "../../Dockerfile")
	root, id := t.TempDir(), fmt.Sprint(os.Getuid())
	var env []string
	for _, variable := range regexp.MustCompile(`(COTTER_(?:CACHE|STATE)_DIR)=(/[a-z]+)(\S*)`).FindAllSubmatch(text, -1) {
		env = append(env, fmt.Sprintf("%s=%s%s%s", variable[1], root, variable[2], variable[3]))
		if !regexp.MustCompile(`chmod 1777\b.* /root-of-image` + string(variable[2]) + `\b`).Match(text) {
			t.Errorf("%s of the image is not for all users", variable[2])
		}
		testenv.Must(t, os.Mkdir(filepath.Join(root, string(variable[2])), 0o755))
		testenv.Must(t, os.Chmod(filepath.Join(root, string(variable[2])), 0o777|os.ModeSticky))
	}
	s := newSite(t, modtest.New(t, modtest.Txtar("-- archives/a.zip/main.tf --\n")), env...)
	s.write(t, "main.tf", "module \"a\" {\n  source = \"https://MODTEST_HOST/archives/a.zip\"\n}\n")
	s.mustRun(t, "install")
	for _, name := range []string{"cache/" + id + "/tree", "state/" + id + "/key"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("the user has no %s: %v", name, err)
		}
	}
}
