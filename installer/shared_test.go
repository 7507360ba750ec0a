package installer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
)

// installShared installs a new project with the given cache. It returns the files of its modules
// and the packages that were fetched.
func installShared(t *testing.T, p *project, cache string) (files map[string]string, fetched []string) {
	t.Helper()
	one := &project{world: p.world, dir: t.TempDir(), state: p.state}
	testenv.Must(t, p.world.WriteTree(one.dir, "config"))
	in := with(one.installer(), func(o *installer.Options) {
		o.CacheDir = cache
		o.OnEvent = func(ev installer.Event) {
			if e, ok := ev.(event.FetchStarted); ok {
				fetched = append(fetched, e.Package)
			}
		}
	})
	mustInstall(t, in, installer.Project{Dir: one.dir}, installer.InstallOptions{})
	files = make(map[string]string)
	for _, key := range []string{"registry", "range", "tag", "branch", "archive", "oci"} {
		files[key] = one.file(".terraform/modules/" + key + "/main.tf")
	}
	return files, fetched
}

// A package that an earlier run has fetched is used only if it is known to be current.
func TestSharedCacheIsCurrent(t *testing.T) {
	t.Parallel()
	p, cache := world(t, changingWorld), t.TempDir()
	// The range and the tag name one commit, so one fetch may serve both.
	if _, fetched := installShared(t, p, cache); len(fetched) != 5 && len(fetched) != 6 {
		t.Errorf("fetched %q, want all", fetched)
	}
	if _, fetched := installShared(t, p, cache); len(fetched) != 1 || !strings.HasSuffix(fetched[0], ".zip") {
		t.Errorf("fetched %q again, want the archive only: it may be another by now", fetched)
	}
	changeAll(t, p)
	files, _ := installShared(t, p, cache)
	for key, text := range files {
		if text != "# second\n" {
			t.Errorf("%s has %q after its origin was moved", key, text)
		}
	}
}

// If a run starts while another one fetches an archive, it uses the archive that the other one
// fetches.
func TestSharedArchive(t *testing.T) {
	t.Parallel()
	p, cache := world(t, changingWorld), t.TempDir()
	fetching, began := make(chan struct{}), make(chan struct{})
	first := with(p.installer(), func(o *installer.Options) {
		o.CacheDir, o.Fetcher = cache, heldFetcher{o.Fetcher, fetching, began}
	})
	ended := make(chan error, 1)
	go func() {
		_, err := first.Install(context.Background(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
		ended <- err
	}()
	<-fetching
	second := &project{world: p.world, dir: t.TempDir(), state: p.state}
	testenv.Must(t, p.world.WriteTree(second.dir, "config"))
	in := with(second.installer(), func(o *installer.Options) {
		o.CacheDir, o.Config = cache, callReader{config.Call{Name: "archive", Source: p.world.ArchiveSource("n.zip", "")}}
		o.OnEvent = func(ev installer.Event) {
			if _, ok := ev.(event.Resolved); ok { // the pool of the run has begun
				close(began)
			}
			second.record(ev)
		}
	})
	mustInstall(t, in, installer.Project{Dir: second.dir}, installer.InstallOptions{})
	testenv.Must(t, <-ended)
	if got := second.events(); strings.Contains(got, "FetchStarted") {
		t.Errorf("the second run fetched as well:\n%s", got)
	}
}

// heldFetcher closes fetching before it fetches an archive, and then waits for until.
type heldFetcher struct {
	installer.Fetcher
	fetching chan<- struct{}
	until    <-chan struct{}
}

func (f heldFetcher) Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error) {
	if strings.HasSuffix(req.Package.String(), ".zip") {
		close(f.fetching)
		<-f.until
	}
	return f.Fetcher.Fetch(ctx, req)
}
