package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// TestCleanDuringInstalls repeatedly cleans a cache while processes install from it, in cold
// and warm runs. Packages in use stay in the cache.
func TestCleanDuringInstalls(t *testing.T) {
	t.Parallel()
	const installs, files = 8, 400
	s := newCrashScene(t, "install")
	large := fstest.MapFS{"main.tf": {Data: []byte("# large\n")}} // large enough to be in use when clean runs
	for i := range files {
		large[fmt.Sprintf("files/%d.txt", i)] = &fstest.MapFile{Data: fmt.Append(nil, i)}
	}
	testenv.Must(t, s.world.PublishArchive("n.zip", large))
	var cleaning, installing sync.WaitGroup
	done := make(chan struct{})
	cleaning.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				s.mustRun(t, "cache clean")
			}
		}
	})
	for i := range installs {
		dir := filepath.Join(t.TempDir(), fmt.Sprint(i))
		testenv.Must(t, copyTree(dir, s.project))
		installing.Go(func() {
			for _, args := range []string{"install", "install --locked"} {
				if end := s.run(args + " -chdir=" + dir); end.status != 0 {
					t.Errorf("cotter %s beside cache clean: status %d\n%s", args, end.status, end.out)
				}
				if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	installing.Wait()
	close(done)
	cleaning.Wait()
}

// TestOwnDataDirs runs several first installations of one project at the same time, each
// with its own data directory. All of them write the same lock.
func TestOwnDataDirs(t *testing.T) {
	t.Parallel()
	const processes = 8
	world := modtest.New(t, demoTree())
	dir, cache := world.Dir(t, "config"), t.TempDir()
	var wait sync.WaitGroup
	locks := make([]string, processes)
	for i := range processes {
		cmd := cotterIn(world, dir, cache)
		cmd.Env = append(cmd.Env, "TF_DATA_DIR="+filepath.Join(t.TempDir(), "missing", fmt.Sprint(i)))
		wait.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
			lock, err := os.ReadFile(filepath.Join(dir, lockFile))
			if err != nil {
				t.Error(err)
			}
			locks[i] = string(lock)
		})
	}
	wait.Wait()
	for i, lock := range locks {
		if diff := cmp.Diff(locks[0], lock); diff != "" || !strings.Contains(lock, "module ") {
			t.Errorf("the lock after process %d (-first +this):\n%s", i, diff)
		}
	}
}
