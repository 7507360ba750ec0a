package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestStockBytes compares the manifest for nested local modules with the one that a stock tool
// writes.
func TestStockBytes(t *testing.T) {
	t.Parallel()
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("terraform is not installed")
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "project")
	write(t, filepath.Join(root, "main.tf"), `
module "net" { source = "./modules/net" }
module "Upper" { source = "./modules/../modules/leaf/" }
module "out_side" { source = "../shared" }
module "out-side" { source = "./linked" }
`)
	write(t, filepath.Join(root, "modules/net/main.tf"), `module "leaf" { source = "../leaf" }`)
	write(t, filepath.Join(root, "modules/leaf/main.tf"), "")
	write(t, filepath.Join(dir, "shared/main.tf"), "")
	if err := os.Symlink("../shared", filepath.Join(root, "linked")); err != nil {
		t.Skipf("symlinks are not supported: %v", err)
	}

	cmd := exec.Command(terraform, "get", "-no-color")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_DATA_DIR=", "TF_CLI_ARGS=", "TF_CLI_ARGS_get=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("terraform get: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(root, ".terraform/modules/modules.json"))
	testenv.Must(t, err)

	got := newManifest(
		project.ManifestRecord{Key: "out_side", Source: "../shared", Dir: "../shared"},
		project.ManifestRecord{Key: "out-side", Source: "./linked", Dir: "../shared"},
		project.ManifestRecord{Key: "net.leaf", Source: "../leaf", Dir: "modules/leaf"},
		project.ManifestRecord{Key: "net", Source: "./modules/net", Dir: "modules/net"},
		project.ManifestRecord{Key: "Upper", Source: "./modules/leaf", Dir: "modules/leaf"},
	).Bytes()
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("Bytes() (-terraform +ours):\n%s", diff)
	}
	parsed, err := project.ParseManifest(want)
	if err != nil {
		t.Fatalf("Parse of terraform's manifest: %v", err)
	}
	if diff := cmp.Diff(string(want), string(parsed.Bytes())); diff != "" {
		t.Errorf("Bytes() after Parse (-terraform +ours):\n%s", diff)
	}
}

// write writes a file and creates its directory.
func write(t *testing.T, name, content string) {
	t.Helper()
	testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	testenv.Must(t, os.WriteFile(name, []byte(content), 0o644))
}
