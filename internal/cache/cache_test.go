package cache_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cache"
	"github.com/cotterpin/cotter/internal/testenv"
)

// The user's cache can be measured, and emptied at any time.
func ExampleCache() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	c := cache.Cache{Dir: dir}
	usage, err := c.Size(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(usage.Modules.Number, "packages,", usage.Bytes(), "bytes")
	// Output: 0 packages, 0 bytes
}

func TestCheckKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		in   cache.Cache
		want error
	}{
		{"a secret", cache.Cache{StateKey: "0123456789abcdef0123456789abcdef"}, nil},
		{"a short secret", cache.Cache{StateKey: "short"}, installer.ErrShortStateKey},
		{"no key yet", cache.Cache{StateDir: t.TempDir()}, fs.ErrNotExist},
	} {
		if err := test.in.CheckKey(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// The key depends on the locked packages, and not on the directories or the calls.
func TestKeyOf(t *testing.T) {
	t.Parallel()
	const entry = `module "KEY" {
  version = "1.0.0"
  source  = "registry.opentofu.org/acme/net/aws"

  hashes = [
    "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  ]
}
`
	project := func(lock string) string {
		dir := t.TempDir()
		if lock != "" {
			testenv.Must(t, os.WriteFile(filepath.Join(dir, ".terraform.lock.hcl"), []byte(lock), 0o600))
		}
		return dir
	}
	one, other, none := project(strings.ReplaceAll(entry, "KEY", "a")), project(strings.ReplaceAll(entry, "KEY", "b")), project("")
	first, err := cache.KeyOf(t.Context(), []installer.Project{{Dir: one}, {Dir: none}})
	if err != nil || first.Modules != 1 || first.Providers != 0 || !strings.HasPrefix(first.Key, first.Prefix) {
		t.Fatalf("KeyOf = %+v, %v, want the key of one module", first, err)
	}
	if second, err := cache.KeyOf(t.Context(), []installer.Project{{Dir: other}}); err != nil || second != first {
		t.Errorf("KeyOf = %+v, %v, want %+v: the packages are the same", second, err, first)
	}
	if _, err := cache.KeyOf(t.Context(), []installer.Project{{Dir: none}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("KeyOf without a lock = %v, want fs.ErrNotExist", err)
	}
	if _, err := cache.KeyOf(t.Context(), []installer.Project{{Dir: filepath.Join(none, "gone")}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("KeyOf of a directory that does not exist = %v, want fs.ErrNotExist", err)
	}
}
