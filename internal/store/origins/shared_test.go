package origins_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/origins"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
)

// repository is a git repository whose only file has the name of its commit.
type repository struct {
	getmodules.Source
	commit       string
	down, hangUp bool
	fetches      int
}

var errDown = errors.New("connection reset")

func (r *repository) Interactive() bool { return false }

func (r *repository) Reference(context.Context, getmodules.Request) (getmodules.Reference, error) {
	if r.down {
		return getmodules.Reference{}, errDown
	}
	return getmodules.Reference{Revision: r.commit}, nil
}

func (r *repository) Fetch(_ context.Context, req getmodules.Request) (*getmodules.Package, error) {
	r.fetches++
	if r.hangUp {
		return nil, errDown
	}
	err := errors.Join(os.Mkdir(req.Dir, 0o755), os.WriteFile(filepath.Join(req.Dir, "main.tf"), []byte(r.commit), 0o644))
	return &getmodules.Package{Resolved: req.Package, Revision: r.commit}, err
}

// fetchFrom fetches in a process of its own, whose run began some time ago.
func fetchFrom(t *testing.T, r *repository, cache, address string, pin origins.Pin, ago time.Duration) (*origins.Fetched, error) {
	t.Helper()
	key, err := userkey.FromSecret("a secret that has 32 characters..")
	testenv.Must(t, err)
	modules, err := store.OpenModules(cache, key)
	testenv.Must(t, err)
	defer func() { testenv.Must(t, modules.Close()) }()
	slots := func() chan struct{} { return make(chan struct{}, 1) }
	client := &origins.Client{Fetcher: r, Cache: modules, Began: time.Now().Add(-ago), Slots: slots(), Requests: slots(), Transfers: slots()}
	o := &origins.Origins{Client: client, OnEvent: func(event.Event) {}}
	pkg := addrs.ParseModulePackage(address)
	return o.Fetch(t.Context(), callsource.Source{Address: addrs.ModuleSourceRemote{Package: pkg}, Repository: pkg}, origins.Location{Package: pkg}, pin)
}

const repositoryAddress = "git::https://git.example.com/net.git"

func TestFetchShared(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		moveTo  string // the commit when the second process fetches
		address string
		pin     origins.Pin
		ago     time.Duration
		down    bool
		fetches int // by the second process
	}{
		"revision is current":     {moveTo: "one"},
		"branch has moved":        {moveTo: "two", fetches: 1},
		"revision is pinned":      {moveTo: "two", pin: origins.Pin{Revision: "one"}},
		"other revision pinned":   {moveTo: "two", pin: origins.Pin{Revision: "two"}, fetches: 1},
		"answer after run began":  {moveTo: "two", ago: time.Hour},
		"other hash is wanted":    {moveTo: "one", pin: origins.Pin{Tree: "t1:AAAA"}, fetches: 1},
		"other address":           {moveTo: "one", address: repositoryAddress + "?ref=other", fetches: 1},
		"origin is not reachable": {moveTo: "one", down: true, fetches: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, cache := &repository{commit: "one"}, t.TempDir()
			first, err := fetchFrom(t, r, cache, repositoryAddress, origins.Pin{}, 0)
			if err != nil || r.fetches != 1 {
				t.Fatalf("first fetch: %v, %d fetches", err, r.fetches)
			}
			r.commit, r.down, r.fetches = test.moveTo, test.down, 0
			got, err := fetchFrom(t, r, cache, cmp.Or(test.address, repositoryAddress), test.pin, test.ago-time.Minute)
			testenv.Must(t, err)
			if r.fetches != test.fetches {
				t.Errorf("%d fetches, want %d", r.fetches, test.fetches)
			}
			if same := got.Tree.T1() == first.Tree.T1(); same != (test.moveTo == "one" || test.fetches == 0) {
				t.Errorf("the second process got the same tree: %t", same)
			}
		})
	}
}

// A failure is recorded, but does not keep later processes from fetching.
func TestFetchSharedAfterFailure(t *testing.T) {
	t.Parallel()
	r, cache := &repository{commit: "one", hangUp: true}, t.TempDir()
	if _, err := fetchFrom(t, r, cache, repositoryAddress, origins.Pin{}, 0); !errors.Is(err, errDown) {
		t.Fatalf("Fetch = %v, want %v", err, errDown)
	}
	r.hangUp = false
	if _, err := fetchFrom(t, r, cache, repositoryAddress, origins.Pin{}, 0); err != nil || r.fetches != 2 {
		t.Errorf("Fetch = %v after %d fetches, want a second fetch", err, r.fetches)
	}
}
