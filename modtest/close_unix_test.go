//go:build unix

package modtest_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestCloseAfterProviders closes a world whose installer has read-only files in its cache, such as those of
// providers.
func TestCloseAfterProviders(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root can remove anything; .ci/run runs this as another user too")
	}
	world, err := modtest.Start(nil, modtest.Options{})
	testenv.Must(t, err)
	cache := world.Installer().Options().CacheDir
	dir := filepath.Join(cache, "provider")
	testenv.Must(t, os.MkdirAll(dir, 0o700))
	testenv.Must(t, os.WriteFile(filepath.Join(dir, "binary"), nil, 0o400))
	testenv.Must(t, os.Chmod(dir, 0o500))
	if err := world.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := os.Lstat(cache); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cache is still there: %v", err)
	}
}
