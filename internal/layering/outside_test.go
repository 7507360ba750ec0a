package layering_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestOutside compiles and runs testdata/outside in a module of its own, as a program that requires
// this module. It uses every name of the API that is fixed. The other modules come from the cache:
// nothing is downloaded.
func TestOutside(t *testing.T) {
	t.Parallel()
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write("main.go", read("testdata/outside/main.go"))
	write("go.sum", read("../../go.sum"))
	goMod := regexp.MustCompile(`(?m)^module .*`).ReplaceAllString(read("../../go.mod"), "module example.com/outside")
	write("go.mod", goMod+"\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+strconv.Quote(checkout)+"\n")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"), "GOPROXY=off", "GOWORK=off")
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("the program outside of the repository: %v\n%s", err, output)
	}
}
