package initwd

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/opentofu/opentofu/internal/configs"
	"github.com/opentofu/opentofu/internal/configs/configload"
	"github.com/opentofu/opentofu/internal/getmodules"
)

// writePackage writes an archive with one module, and returns the configuration of its call "x".
func writePackage(t *testing.T, dir string) map[string]string {
	t.Helper()
	var archive bytes.Buffer
	writer := zip.NewWriter(&archive)
	file, err := writer.Create("x.tf")
	if err == nil {
		_, err = file.Write([]byte(`output "found" {` + "\n  value = 1\n}\n"))
	}
	if err := errors.Join(err, writer.Close(), os.WriteFile(filepath.Join(dir, "x.zip"), archive.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"main.tf": `module "x" {` + "\n  source = \"" + filepath.ToSlash(dir) + "/x.zip\"\n}\n"}
}

// installIn writes files and installs the modules of the working directory in modulesDir.
func installIn(ctx context.Context, t *testing.T, modulesDir string, files map[string]string, fetcher *getmodules.PackageFetcher) *configs.Config {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	installer := NewModuleInstaller(modulesDir, configload.NewLoaderForTests(t), nil, fetcher)
	config, diags := installer.InstallModules(ctx, ".", "tests", false, false, nil, configs.RootModuleCallForTesting())
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	return config
}

// TestCotterNestedVariables installs modules whose sources depend on variables of their callers.
func TestCotterNestedVariables(t *testing.T) {
	t.Chdir(t.TempDir())
	config := installIn(t.Context(), t, ".terraform/modules", map[string]string{
		"main.tf":     `module "a" {` + "\n  source = \"./a\"\n  name = \"b\"\n}\n",
		"a/main.tf":   `variable "name" {}` + "\n" + `module "b" {` + "\n  source = \"./${var.name}\"\n  name = \"c\"\n}\n",
		"a/b/main.tf": `variable "name" {}` + "\n" + `module "c" {` + "\n  source = \"./${var.name}\"\n}\n",
		"a/b/c/c.tf":  `output "found" {` + "\n  value = 1\n}\n",
	}, nil)
	innermost := config.Descendent([]string{"a", "b", "c"})
	if innermost == nil || innermost.Module.Outputs["found"] == nil {
		t.Fatal("module.a.module.b.module.c is not installed")
	}
}

// TestCotterSecondRun installs a package, and then again after the package's origin is gone and
// without a fetcher. The modules have the path of the modules directory that OpenTofu was given.
func TestCotterSecondRun(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		dir, origin, modulesDir := t.TempDir(), t.TempDir(), ".terraform/modules"
		t.Chdir(dir)
		if absolute {
			modulesDir = filepath.Join(dir, modulesDir)
		}
		files := writePackage(t, origin)
		for _, fetcher := range []*getmodules.PackageFetcher{getmodules.NewPackageFetcher(t.Context(), nil), nil} {
			config := installIn(t.Context(), t, modulesDir, files, fetcher)
			if x := config.Children["x"]; x == nil || x.Module.Outputs["found"] == nil || x.Module.SourceDir != filepath.Join(modulesDir, "x") {
				t.Fatalf("modules directory %s, with a fetcher %t: module.x is not installed in it", modulesDir, fetcher != nil)
			}
			if err := os.RemoveAll(origin); err != nil {
				t.Fatal(err)
			}
		}
	}
}
