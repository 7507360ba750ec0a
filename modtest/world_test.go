package modtest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func TestStartErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tree string
		path string // in the TreeError
	}{
		{"-- registry/README.md --\n", "registry/README.md"},
		{"-- registry/acme/net/main.tf --\n", "registry/acme/net/main.tf"},
		{"-- registry/acme/net/aws/main.tf --\n", "registry/acme/net/aws/main.tf"},
		{"-- registry/acme/net/aws/v1.0.0/main.tf --\n", "registry/acme/net/aws/v1.0.0"},
		{"-- registry/acme/net/aws/1.0/main.tf --\n", "registry/acme/net/aws/1.0"},
		{"-- registry/acme/net/aws/01.0.0/main.tf --\n", "registry/acme/net/aws/01.0.0"},
		{"-- git/net/v1.0.0/main.tf --\n", "git/net/v1.0.0/main.tf"},
		{"-- git/net.git/main.tf --\n", "git/net.git/main.tf"},
		{"-- git/net.git/a%zz/main.tf --\n", "git/net.git/a%zz"},
		{"-- git/net.git/a%2F..%2Fb/main.tf --\n", "git/net.git/a%2F..%2Fb"},
		{"-- git/net.git/a b/main.tf --\n", "git/net.git/a b"},
		{"-- git/n.git/v1/a --\n-- git/n.git/v%31/a --\n", "git/n.git/v1"},
		{
			"-- git/registry/a/b/c.git/v1.0.0/x --\n-- registry/a/b/c/1.0.0/x --\n",
			"registry/a/b/c/1.0.0",
		},
		{"-- archives/net.rar/main.tf --\n", "archives/net.rar/main.tf"},
		{"-- archives/net.zip --\n", "archives/net.zip"},
		{"-- ../x --\n", "git"},
	} {
		world, err := modtest.Start(modtest.Txtar(test.tree), modtest.Options{})
		if err == nil {
			t.Errorf("Start(%q) = nil error, want one", test.tree)
			_ = world.Close()
			continue
		}
		var wrong *modtest.TreeError
		if !errors.As(err, &wrong) || wrong.Path != test.path || !strings.HasPrefix(err.Error(), fmt.Sprintf("modtest: %q: ", test.path)) {
			t.Errorf("Start(%q) = %v, want a TreeError at %q", test.tree, err, test.path)
		}
	}
}

func TestOptionsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, opts := range []modtest.Options{{Hosted: true, Archives: true}, {Hosted: true, HeaderLocations: true}} {
		if _, err := modtest.Start(modtest.Txtar(""), opts); err == nil {
			t.Errorf("Start with %+v: no error", opts)
		}
	}
}

// It changes the environment of the process, so it does not run in parallel.
func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := modtest.Start(modtest.Txtar(twoVersions), modtest.Options{})
	if !errors.Is(err, modtest.ErrNoGit) {
		t.Errorf("Start = %v, want %v", err, modtest.ErrNoGit)
	}
	skipped := true
	t.Run("skips", func(t *testing.T) {
		modtest.New(t, modtest.Txtar(twoTags))
		skipped = false
	})
	if !skipped {
		t.Error("New did not skip the test")
	}
	world := modtest.NewWith(t, modtest.Txtar(twoVersions), modtest.Options{Archives: true})
	if err := world.PublishTag("net.git", "v1.0.0", modtest.Txtar("")); !errors.Is(err, modtest.ErrNoGit) {
		t.Errorf("PublishTag = %v, want %v", err, modtest.ErrNoGit)
	}
	if r := get(t, world, "/git/net.git/info/refs"); r.status != http.StatusNotFound {
		t.Errorf("a repository that could not be made = %d, want 404", r.status)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	world, err := modtest.Start(modtest.Txtar(plainFile), modtest.Options{})
	testenv.Must(t, err)
	certificate, _ := strings.CutPrefix(world.Env()[0], "SSL_CERT_FILE=")
	if _, err := os.Stat(certificate); err != nil {
		t.Errorf("certificate: %v", err)
	}
	for range 2 {
		if err := world.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := os.Stat(filepath.Dir(certificate)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the world's directory is still there: %v", err)
	}
	if _, err := tryGet(t, world, "/files/a"); err == nil {
		t.Error("a closed world answers")
	}
	empty, err := modtest.Start(nil, modtest.Options{})
	if err := errors.Join(err, empty.Close(), new(modtest.World).Close()); err != nil {
		t.Errorf("a world without a tree: %v", err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(plainFile), modtest.Options{Faults: []modtest.Fault{{Path: "/none", Status: 500}}})
	get(t, world, "/files/a?x=1&y", "Authorization", "Bearer t")
	get(t, world, "/none")
	get(t, world, world.PlainURL()+"/files/b")
	got := world.Requests()
	want := []modtest.Request{
		{Method: "GET", Host: string(world.Host()), Path: "/files/a", Query: "x=1&y", TLS: true},
		{Method: "GET", Host: string(world.Host()), Path: "/none", TLS: true},
		{Method: "GET", Host: strings.TrimPrefix(world.PlainURL(), "http://"), Path: "/files/b"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(modtest.Request{}, "Header")); diff != "" {
		t.Errorf("Requests (-want +got):\n%s", diff)
	}
	if got := got[0].Header.Get("Authorization"); got != "Bearer t" {
		t.Errorf("recorded Authorization = %q", got)
	}
	if got, want := got[0].String(), "GET /files/a?x=1&y"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
	world.ResetRequests()
	if got := world.Requests(); len(got) != 0 {
		t.Errorf("Requests after the reset = %v", got)
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoVersions+twoTags+plainFile))
	files := modtest.Txtar("-- main.tf --\n# new\n")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { get(t, world, "/git/net.git/info/refs?service=git-upload-pack") })
		all.Go(func() { get(t, world, netAWS+"1.2.0/download") })
		all.Go(func() { world.SetFaults(modtest.Fault{Path: "/none"}) })
		all.Go(func() { world.Requests() })
		all.Go(func() {
			if err := world.PublishVersion("acme/net/aws", "1.2.0", files); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := world.MoveTag("net.git", "v1.9.0", files); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
