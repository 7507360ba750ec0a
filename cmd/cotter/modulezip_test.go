package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/cotterpin/cotter/internal/testenv"
)

// ourModule is the Go module of a release of this tree.
var ourModule = module.Version{Path: "github.com/cotterpin/cotter", Version: "v0.0.1-test"}

// TestModuleZip checks that a Go proxy can serve this tree: all names and sizes are allowed
// in a module zip.
func TestModuleZip(t *testing.T) {
	t.Parallel()
	found, err := zip.CheckDir("../..")
	testenv.Must(t, err)
	if err := found.Err(); err != nil {
		t.Error(err)
	}
	valid := strings.Join(found.Valid, "\n")
	for _, file := range []string{"LICENSE", "go.mod", "cmd/cotter/completions/cotter.bash", "cmd/cotter/main.go"} {
		if !strings.Contains(filepath.ToSlash(valid), file) {
			t.Errorf("the module zip would not have %s", file)
		}
	}
}

// TestInstallFromModuleZip installs the command as `go install PATH@VERSION` does, from a
// proxy that serves this tree as a module zip. It compiles everything, so it runs only in
// .ci/release.
func TestInstallFromModuleZip(t *testing.T) {
	if os.Getenv("COTTER_TEST_INSTALL") == "" {
		t.Skip("COTTER_TEST_INSTALL is not set")
	}
	goEnv := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		testenv.Must(t, err)
		return strings.TrimSpace(string(out))
	}
	proxy, bin := t.TempDir(), t.TempDir()
	writeProxy(t, proxy)
	fileURL := func(dir string) string { return "file://" + strings.TrimPrefix(filepath.ToSlash("/"+dir), "/") }
	install := exec.Command("go", "install", "-trimpath", ourModule.Path+"/cmd/cotter@latest")
	install.Dir = bin
	install.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "CGO_ENABLED=0",
		// The other modules come from the module cache, and no other proxy is asked.
		"GOPROXY="+fileURL(proxy)+","+fileURL(filepath.Join(goEnv("GOMODCACHE"), "cache", "download")),
		"GOSUMDB=off")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	out, err := exec.Command(filepath.Join(bin, "cotter"), "--version").Output()
	want := fmt.Sprintf("cotter %s on %s_%s\n", ourModule.Version, runtime.GOOS, runtime.GOARCH)
	if err != nil || string(out) != want {
		t.Errorf("cotter --version: %v, prints %q, want %q", err, out, want)
	}
}

// writeProxy writes the files with which a Go proxy serves our module.
func writeProxy(t *testing.T, dir string) {
	t.Helper()
	var archive bytes.Buffer
	testenv.Must(t, zip.CreateFromDir(&archive, ourModule, "../.."))
	mod := readFile(t, "../../go.mod")
	at := filepath.Join(dir, filepath.FromSlash(ourModule.Path), "@v")
	testenv.Must(t, os.MkdirAll(at, 0o755))
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, ourModule.Version, time.Unix(0, 0).UTC().Format(time.RFC3339))
	for name, content := range map[string][]byte{
		"list":                      []byte(ourModule.Version + "\n"),
		ourModule.Version + ".info": []byte(info),
		ourModule.Version + ".mod":  mod,
		ourModule.Version + ".zip":  archive.Bytes(),
	} {
		testenv.Must(t, os.WriteFile(filepath.Join(at, name), content, 0o644))
	}
}
