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
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
)

// TestCommandsOfFiles checks the command lines in the files with which other programs run
// cotter: the commands and their flags exist.
func TestCommandsOfFiles(t *testing.T) {
	t.Parallel()
	app := testApp()
	line := regexp.MustCompile(`(?:entry: |\$\(|"|run: |\$ )(cotter [^"')` + "`" + `\n]*)`)
	for _, name := range []string{".pre-commit-hooks.yaml", "action.yml", "renovate/cotter.json", "docs/renovate.md"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
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

// renovateManager is one of the managers of renovate/cotter.json.
type renovateManager struct {
	FilePatterns []string `json:"managerFilePatterns"`
	MatchStrings []string `json:"matchStrings"`
	Datasource   string   `json:"datasourceTemplate"`
}

func renovateManagers(t *testing.T) []renovateManager {
	t.Helper()
	text, err := os.ReadFile("../../renovate/cotter.json")
	if err != nil {
		t.Fatal(err)
	}
	var preset struct {
		Managers []renovateManager `json:"customManagers"`
	}
	if err := json.Unmarshal(text, &preset); err != nil {
		t.Fatal(err)
	}
	return preset.Managers
}

// renovateLock returns a lock with each kind of source, as cotter writes it.
func renovateLock(t *testing.T) []byte {
	t.Helper()
	lock, diags := lockfile.Parse(nil, ".terraform.lock.hcl")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, m := range []lockfile.Module{
		{Key: "app", Source: "git::https://example.com/app.git"},
		{Key: "archive", Source: "https://example.com/a.zip"},
		{Key: "dns", Version: "0.4.0", Source: "oci://registry.example.com:5000/modules/dns//zone"},
		{Key: "net", Version: "2.0.1", Source: "git::https://example.com/platform/net.git//modules/net?depth=1", Constraints: "~> 2.0"},
		{Key: "net.ssh", Version: "1.0.0", Source: "git::ssh://git@example.com/ssh.git"},
		{Key: "vpc", Version: "3.19.0", Source: "registry.opentofu.org/terraform-aws-modules/vpc/aws//modules/x", Constraints: "~> 3.0"},
		{Key: "vpc.own", Version: "1.0.0-rc.1", Source: "registry.corp.example:8443/acme/own/aws"},
	} {
		m.Hashes = []hashing.Hash{"h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="}
		m.Package = "git::https://example.com/x.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0"
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
	lock := renovateLock(t)
	var got []string
	for _, manager := range renovateManagers(t) {
		for _, pattern := range manager.FilePatterns {
			file := regexp.MustCompile(strings.Trim(pattern, "/"))
			if !file.MatchString("envs/dev/.terraform.lock.hcl") || !file.MatchString(".terraform.lock.hcl") || file.MatchString("x.terraform.lock.hcl") {
				t.Errorf("%s matches other files than locks", pattern)
			}
		}
		for _, pattern := range manager.MatchStrings {
			re := regexp.MustCompile(pattern)
			for _, match := range re.FindAllSubmatch(lock, -1) {
				field := func(name string) string {
					if i := re.SubexpIndex(name); i >= 0 {
						return string(match[i])
					}
					return ""
				}
				got = append(got, strings.Join([]string{field("depName"), field("currentValue"), field("packageName"), manager.Datasource, field("host")}, " "))
			}
		}
	}
	if diff := cmp.Diff(renovateWant, got); diff != "" {
		t.Errorf("what the patterns find (-want +got):\n%s\nin\n%s", diff, lock)
	}
}

// TestRenovateExtraction runs Renovate's own extraction on the same lock, if
// COTTER_TEST_RENOVATE names the directory of its npm package.
func TestRenovateExtraction(t *testing.T) {
	t.Parallel()
	renovate := os.Getenv("COTTER_TEST_RENOVATE")
	if renovate == "" {
		t.Skip("COTTER_TEST_RENOVATE does not name a directory with Renovate")
	}
	lock, preset := filepath.Join(t.TempDir(), "lock.hcl"), "../../renovate/cotter.json"
	if err := os.WriteFile(lock, renovateLock(t), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", "testdata/renovate.mjs", renovate, preset, lock).CombinedOutput()
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
	for _, program := range []string{"bash", "curl", "tar"} {
		if _, err := exec.LookPath(program); err != nil || runtime.GOOS == "windows" {
			t.Skipf("%s is not installed, or this is Windows", program)
		}
	}
	archive := releaseArchive(t, "#!/bin/sh\necho cotter v1.2.3\n")
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
	for _, test := range []struct {
		name, version, sums, want string
	}{
		{"a version", "v1.2.3", sum + "  " + name + "\n", ""},
		{"the newest one", "latest", strings.Repeat("0", 64) + "  other.tar.gz\n" + sum + "  " + name + "\n", ""},
		{"a bill of materials of the archive", "v1.2.3", sum + "  " + name + "\n" + strings.Repeat("0", 64) + "  " + name + ".sbom.json\n", ""},
		{"another checksum", "v1.2.3", strings.Repeat("0", 64) + "  " + name + "\n", "FAILED"},
		{"no checksum", "v1.2.3", strings.Repeat("0", 64) + "  other.tar.gz\n", "exit status"},
		{"a version that does not exist", "v9.9.9", "", "404"},
		{"no version", "1; touch evil", "", "is no version"},
	} {
		sums = test.sums
		dir := t.TempDir()
		path := filepath.Join(dir, "path")
		cmd := exec.Command("bash", "../../action/install.sh", test.version, filepath.Join(dir, "bin"))
		cmd.Env = append(os.Environ(), "COTTER_RELEASES_URL="+server.URL, "GH_TOKEN=", "GITHUB_PATH="+path, "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
		out, err := cmd.CombinedOutput()
		_, missing := os.Stat(path)
		if test.want == "" {
			if err != nil || missing != nil || !strings.Contains(string(out), "cotter v1.2.3") {
				t.Errorf("%s: %v\n%s", test.name, err, out)
			}
			continue
		}
		if err == nil || missing == nil || !strings.Contains(string(out)+err.Error(), test.want) || strings.Contains(string(out), "cotter v1.2.3") {
			t.Errorf("%s: %v, want %q\n%s", test.name, err, test.want, out)
		}
	}
}

// releaseArchive returns an archive that contains a program.
func releaseArchive(t *testing.T, program string) []byte {
	t.Helper()
	var text bytes.Buffer
	compressed := gzip.NewWriter(&text)
	files := tar.NewWriter(compressed)
	if err := files.WriteHeader(&tar.Header{Name: "cotter", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write([]byte(program)); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}
