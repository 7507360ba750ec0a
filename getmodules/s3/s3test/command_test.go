package s3test_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// buildCotter builds the command once.
var buildCotter = sync.OnceValues(func() (string, error) {
	name := filepath.Join(tempDir, "cotter")
	cmd := exec.Command("go", "build", "-o", name, "./cmd/cotter")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

// project is a directory with a configuration, in which the command runs.
type project struct{ cotter, dir, cache string }

func newProject(t *testing.T, source string) project {
	t.Helper()
	testenv.Program(t, "go")
	cotter, err := buildCotter()
	testenv.Must(t, err)
	p := project{cotter, t.TempDir(), t.TempDir()}
	config := fmt.Sprintf("module \"net\" {\n  source = %q\n}\n", source)
	testenv.Must(t, os.WriteFile(filepath.Join(p.dir, "main.tf"), []byte(config), 0o600))
	return p
}

// run runs the command and returns all that it printed.
func (p project) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(p.cotter, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "COTTER_CACHE_DIR="+p.cache, "NO_COLOR=1", "HOME="+p.cache, "TF_CLI_CONFIG_FILE=", "CI=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p project) mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.run(t, args...)
	if err != nil {
		t.Fatalf("cotter %q: %v\n%s", args, err, out)
	}
	return out
}

func (p project) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	testenv.Must(t, err)
	return string(text)
}

// TestInstall runs the command: it installs and verifies, installs again offline, and
// refuses an object that no longer matches the lock.
func TestInstall(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.put(t, "net.zip", testenv.Zip(t, map[string]string{"modules/a/main.tf": "# a\n"}))
	p := newProject(t, s.address("net.zip//modules/a", ""))
	out := p.mustRun(t, "install")
	lock := p.read(t, ".terraform.lock.hcl")
	for _, value := range []string{keyID, secret, "secret%2F", token} {
		if strings.Contains(out+lock, value) {
			t.Errorf("%q is in the output or the lock:\n%s\n%s", value, out, lock)
		}
	}
	if strings.Contains(out, "SDK") || strings.Contains(out, "WARN") {
		t.Errorf("an SDK printed something:\n%s", out)
	}
	for _, want := range []string{
		fmt.Sprintf("source = %q", "s3::"+s.URL+"/modules/net.zip//modules/a?region=us-east-1"),
		fmt.Sprintf("package = %q", "s3::"+s.URL+"/modules/net.zip?region=us-east-1"),
		`"zh:`,
	} {
		if !strings.Contains(lock, want) {
			t.Errorf("the lock has no %s:\n%s", want, lock)
		}
	}
	p.mustRun(t, "verify")
	for _, dir := range []string{p.dir, p.cache} {
		hasNoSecret(t, dir)
	}

	s.put(t, "net.zip", testenv.Zip(t, map[string]string{"modules/a/main.tf": "# changed\n"}))
	p.removeInstalled(t)
	p.mustRun(t, "install", "--locked", "--offline")
	if got := p.read(t, ".terraform/modules/net/modules/a/main.tf"); got != "# a\n" {
		t.Errorf("offline, the module is %q", got)
	}

	p.removeInstalled(t)
	p.cache = t.TempDir()
	if out, err := p.run(t, "install"); err == nil || !strings.Contains(out, "checksum") {
		t.Errorf("a changed object is installed: %v\n%s", err, out)
	}
	if got := p.read(t, ".terraform.lock.hcl"); got != lock {
		t.Errorf("the lock changed to\n%s", got)
	}
}

// hasNoSecret checks that no file contains the credentials. Exceptions are the configuration and the
// manifest modules.json, which stock tools compare with the configuration.
func hasNoSecret(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "modules.json" || name == filepath.Join(dir, "main.tf") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, value := range []string{keyID, secret, "secret%2Fkey%2B22", token} {
			if strings.Contains(name+string(text), value) {
				t.Errorf("%q is in %s", value, name)
			}
		}
		return err
	})
	testenv.Must(t, err)
}

// removeInstalled removes what was installed, so that the project looks like a fresh
// checkout.
func (p project) removeInstalled(t *testing.T) {
	t.Helper()
	testenv.Must(t, os.RemoveAll(filepath.Join(p.dir, ".terraform")))
}
