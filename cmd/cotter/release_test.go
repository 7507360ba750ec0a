package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestReleaseFiles checks the files of a release in the directory COTTER_TEST_DIST, which
// .ci/release builds: the archives of all systems have what a user needs, the packages have the
// program, and the action installs it.
func TestReleaseFiles(t *testing.T) {
	dist := os.Getenv("COTTER_TEST_DIST")
	if dist == "" {
		t.Skip("COTTER_TEST_DIST is not set")
	}
	archives, err := filepath.Glob(filepath.Join(dist, "cotter_*_*_*64.*"))
	testenv.Must(t, err)
	var version string
	var systems []string
	for _, archive := range archives {
		name := filepath.Base(archive)
		name, isTar := strings.CutSuffix(name, ".tar.gz")
		name, isZip := strings.CutSuffix(name, ".zip")
		if !isTar && !isZip {
			continue // a package
		}
		parts := strings.SplitN(name, "_", 3)
		version = parts[1]
		systems = append(systems, parts[2])
		files := archiveFiles(t, archive)
		program := "cotter"
		if isZip {
			program += ".exe"
		}
		for _, want := range []string{program, "LICENSE", "README.md", "CHANGELOG.md", "completions/cotter.bash", "completions/cotter.fish", "completions/cotter.zsh"} {
			if !slices.Contains(files, want) {
				t.Errorf("%s has no %s", filepath.Base(archive), want)
			}
		}
	}
	slices.Sort(systems)
	if diff := cmp.Diff([]string{"darwin_amd64", "darwin_arm64", "linux_amd64", "linux_arm64", "windows_amd64", "windows_arm64"}, systems); diff != "" {
		t.Fatalf("the systems with an archive (-want +got):\n%s", diff)
	}
	for _, format := range []string{"deb", "rpm", "apk"} {
		if packages, _ := filepath.Glob(filepath.Join(dist, "*."+format)); len(packages) != 2 {
			t.Errorf("there are %d packages with the suffix %q, want 2", len(packages), format)
		}
	}
	if runtime.GOOS != "linux" {
		t.Skip("the rest is for Linux")
	}
	if out := installByAction(t, dist, version); !strings.HasPrefix(out, "cotter v"+version+" ") {
		t.Errorf("the program of the archive is %q, want version v%s", out, version)
	}
	dpkg := testenv.Program(t, "dpkg-deb")
	packages, _ := filepath.Glob(filepath.Join(dist, "*_"+runtime.GOARCH+".deb"))
	if len(packages) != 1 {
		t.Fatalf("the packages for this system are %q", packages)
	}
	root := t.TempDir()
	if out, err := exec.Command(dpkg, "--extract", packages[0], root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(root, "usr/bin/cotter"), "--version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "cotter v"+version+" ") {
		t.Errorf("the program of the package: %v\n%s", err, out)
	}
}

// installByAction runs the action's script with the files of a release, and returns the version
// that the installed program prints.
func installByAction(t *testing.T, dist, version string) string {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/download/v"+version+"/", http.FileServer(http.Dir(dist))))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	cmd := exec.Command("bash", "../../action/install.sh", "v"+version, filepath.Join(dir, "bin"))
	cmd.Env = append(os.Environ(), "COTTER_RELEASES_URL="+server.URL, "GH_TOKEN=", "GITHUB_PATH="+filepath.Join(dir, "path"), "GITHUB_OUTPUT="+filepath.Join(dir, "output"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(dir, "bin/cotter"), "--version").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func archiveFiles(t *testing.T, name string) []string {
	t.Helper()
	var files []string
	if strings.HasSuffix(name, ".zip") {
		archive, err := zip.OpenReader(name)
		testenv.Must(t, err)
		defer archive.Close()
		for _, file := range archive.File {
			files = append(files, path.Clean(file.Name))
		}
		return files
	}
	file, err := os.Open(name)
	testenv.Must(t, err)
	defer file.Close()
	compressed, err := gzip.NewReader(file)
	testenv.Must(t, err)
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		testenv.Must(t, err)
		files = append(files, path.Clean(header.Name))
	}
}
