package installer_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/testenv"
)

// A project has a configuration if configs.Reader.Empty says so, for its dialect and its directory of tests.
func TestHasConfiguration(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file    string // the only file of the project
		project installer.Project
		want    bool
	}{
		{file: "README.md", want: false},
		{file: "main.tofu", want: true},
		{file: "main.tofu", project: installer.Project{Dialect: installer.DialectTerraform}, want: false},
		{file: "tests/a.tftest.hcl", want: true},
		{file: "checks/a.tftest.hcl", project: installer.Project{Inputs: config.Inputs{TestDir: "checks"}}, want: true},
	} {
		test.project.Dir = writeProject(t, map[string]string{test.file: ""}, "")
		if got, err := repository.HasConfiguration(t.Context(), test.project); got != test.want || err != nil {
			t.Errorf("%s: HasConfiguration = %t, %v, want %t", test.file, got, err, test.want)
		}
	}
	if _, err := repository.HasConfiguration(t.Context(), installer.Project{Dir: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that does not exist: %v, want fs.ErrNotExist", err)
	}
}

func TestRepository(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	p := installer.Project{Dir: filepath.Join(dir, "envs/prod")}
	lockFile := filepath.Join(p.Dir, ".terraform.lock.hcl")
	const entry = "module \"a\" {\n  source = \"git::https://example.com/a.git\"\n  package = \"git::https://example.com/a.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0\"\n" +
		"  hashes = [\n    \"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\",\n  ]\n}\n"
	testenv.Must(t, errors.Join(os.MkdirAll(p.Dir, 0o755), os.WriteFile(lockFile, []byte(entry), 0o644)))
	if _, err := repository.ChangedFiles(ctx, p.Dir, "HEAD"); !errors.Is(err, repository.ErrNoRepository) {
		t.Errorf("without a repository, ChangedFiles returns %v, want ErrNoRepository", err)
	}
	if _, err := repository.LockAt(ctx, p, "HEAD"); !errors.Is(err, repository.ErrNoRepository) {
		t.Errorf("without a repository, ReadLockAt returns %v, want ErrNoRepository", err)
	}

	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "empty")
	git("add", "envs")
	git("commit", "-q", "-m", "lock")
	testenv.Must(t, os.WriteFile(lockFile, nil, 0o644))
	if got, err := repository.ChangedFiles(ctx, p.Dir, "HEAD"); err != nil || cmp.Diff([]string{lockFile}, got) != "" {
		t.Errorf("ChangedFiles = %q, %v, want the lock", got, err)
	}
	for revision, modules := range map[string]int{"HEAD": 1, "HEAD~1": 0, "HEAD:envs/prod/.terraform.lock.hcl": 1} {
		lock, err := repository.LockAt(ctx, p, revision)
		if err != nil {
			t.Errorf("ReadLockAt %s: %v", revision, err)
			continue
		}
		if got := len(lock.Modules()); got != modules {
			t.Errorf("the lock at %s has %d modules, want %d", revision, got, modules)
		}
	}
	if _, err := repository.LockAt(ctx, p, "HEAD:none.hcl"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadLockAt with another file returns %v, want fs.ErrNotExist", err)
	}
}
