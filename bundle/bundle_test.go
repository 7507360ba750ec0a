package bundle_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const world = `
-- config/main.tf --
module "network" {
  source  = "registry.example.com/acme/network/aws"
  version = "~> 1.2"
}
module "again" {
  source  = "registry.example.com/acme/network/aws"
  version = "1.2.3"
}
-- registry/acme/network/aws/1.2.3/main.tf --
# network
`

func installed(world *modtest.World, dir string) (*installer.Installer, error) {
	if err := world.WriteTree(dir, "config"); err != nil {
		return nil, err
	}
	in := world.Installer()
	_, err := in.Install(context.Background(), installer.Project{Dir: dir}, installer.InstallOptions{})
	return in, err
}

// A machine without a network installs packages that another machine has put into a bundle.
func Example() {
	world, err := modtest.Start(modtest.Txtar(world), modtest.Options{Archives: true})
	if err != nil {
		log.Fatal(err)
	}
	defer world.Close()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in, err := installed(world, dir)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	file, err := os.Create(filepath.Join(dir, "modules.tar"))
	if err != nil {
		log.Fatal(err)
	}
	written, err := bundle.Create(ctx, in, []installer.Project{{Dir: dir}}, installer.LockedOptions{}, file)
	if err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("packages:", written.Packages)

	opened, err := bundle.Open(file.Name())
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	elsewhere := installer.New(installer.Options{Stores: []installer.PackageStore{opened}})
	result, err := elsewhere.Install(ctx, installer.Project{Dir: dir}, installer.InstallOptions{Locked: true, Offline: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Modules {
		fmt.Println(m.Path, m.Version)
	}
	// Output:
	// packages: 1
	// again 1.2.3
	// network 1.2.3
}

// Bundles with providers are tested in package mirror, whose project has one.

// Calls with the same package share an entry of the bundle. The same lock gives the same bytes,
// regardless of where the packages come from.
func TestCreate(t *testing.T) {
	t.Parallel()
	w := modtest.NewWith(t, modtest.Txtar(world), modtest.Options{Archives: true})
	dir := t.TempDir()
	in, err := installed(w, dir)
	testenv.Must(t, err)
	var first, second bytes.Buffer
	result, err := bundle.Create(t.Context(), in, []installer.Project{{Dir: dir}, {Dir: dir}}, installer.LockedOptions{}, &first)
	testenv.Must(t, err)
	if want := (bundle.Result{Entries: 1, Packages: 1, Bytes: int64(first.Len())}); *result != want {
		t.Errorf("Create = %+v, want %+v", *result, want)
	}
	testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	if _, err := bundle.Create(t.Context(), w.Installer(), []installer.Project{{Dir: dir}}, installer.LockedOptions{}, &second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same lock gives other bytes")
	}
	if _, err := os.Stat(filepath.Join(dir, ".terraform")); err == nil {
		t.Error("Create has changed the project")
	}
}

// If a project fails, Create returns an error and writes no bytes.
func TestCreateWithoutLock(t *testing.T) {
	t.Parallel()
	w := modtest.NewWith(t, modtest.Txtar(world), modtest.Options{Archives: true})
	dir := t.TempDir()
	testenv.Must(t, w.WriteTree(dir, "config"))
	var text bytes.Buffer
	if _, err := bundle.Create(t.Context(), w.Installer(), []installer.Project{{Dir: dir}}, installer.LockedOptions{}, &text); err == nil || text.Len() > 0 {
		t.Errorf("Create = %v, and %d bytes were written", err, text.Len())
	}
}
