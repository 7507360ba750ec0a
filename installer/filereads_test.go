package installer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestFileReads reads a file outside of the repository. The error is a *FileReadError, unless the
// request allows it.
func TestFileReads(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	testenv.Must(t, err)
	repo := filepath.Join(base, "repo")
	testenv.WriteFiles(t, base, map[string]string{
		"name":             "net",
		"repo/.git/HEAD":   "",
		"repo/main.tf":     "module \"a\" {\n  source = \"./${trimspace(file(\"../name\"))}\"\n}\n",
		"repo/net/main.tf": "",
	})
	req := request{Project: installer.Project{Dir: repo}}
	_, err = installer.New(installer.Options{}).Install(t.Context(), req.Project, req.InstallOptions)
	refused, ok := errors.AsType[*config.FileReadError](err)
	if !ok || refused.Path != "../name" || refused.Allowed != repo || !strings.Contains(err.Error(), refused.Reason) {
		t.Errorf("Install = %v with %+v, want a FileReadError for ../name and %s", err, refused, repo)
	}
	req.Inputs.AllowFileReads = true
	if _, err := installer.New(installer.Options{}).Install(t.Context(), req.Project, req.InstallOptions); err != nil {
		t.Errorf("Install with AllowFileReads = %v", err)
	}
}

// TestLinkedWorkspace has a link in the place of the data directory. The name of the workspace is
// not read from another directory.
func TestLinkedWorkspace(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	project := filepath.Join(base, "project")
	for _, dir := range []string{"project", "etc"} {
		testenv.Must(t, os.Mkdir(filepath.Join(base, dir), 0o755))
	}
	if err := os.Symlink("../etc", filepath.Join(project, ".terraform")); err != nil {
		t.Skip(err)
	}
	if _, err := installer.DefaultConfigReader(installer.Project{Dir: project}); err != nil {
		t.Errorf("DefaultConfigReader without a workspace: %v", err)
	}
	testenv.Must(t, os.WriteFile(filepath.Join(base, "etc", "environment"), []byte("CANARY"), 0o644))
	_, err := installer.DefaultConfigReader(installer.Project{Dir: project})
	if err == nil || !strings.Contains(err.Error(), "symbolic link") || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("DefaultConfigReader = %v, want an error about the link", err)
	}
	req := request{Project: installer.Project{Dir: project, Inputs: config.Inputs{Workspace: "prod"}}}
	if _, err := installer.DefaultConfigReader(req.Project); err != nil {
		t.Errorf("DefaultConfigReader with a workspace: %v", err)
	}
}
