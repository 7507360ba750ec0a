package installer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

// roundTrip is the time that each request takes on the fake clock of synctest.
const roundTrip = time.Second

// roundTrips is a transport of a world. On the fake clock of synctest, each request takes
// exactly one roundTrip. Goroutines outside of the synctest bubble send the requests, so that
// the fake clock stands still while they wait for the network.
type roundTrips chan *courier

// courier carries one request at a time out of the synctest bubble.
type courier struct {
	requests chan *http.Request
	answers  chan answer
}

type answer struct {
	response *http.Response
	err      error
}

func newRoundTrips(t *testing.T, world *modtest.World) roundTrips {
	const couriers = 64
	transport := make(roundTrips, couriers)
	for range couriers {
		c := &courier{make(chan *http.Request), make(chan answer)}
		go c.work(world.HTTPClient())
		t.Cleanup(func() { close(c.requests) })
		transport <- c
	}
	return transport
}

func (c *courier) work(client *http.Client) {
	for request := range c.requests {
		response, err := client.Transport.RoundTrip(request)
		if err == nil {
			var body []byte
			body, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
			response.Body = io.NopCloser(bytes.NewReader(body))
		}
		c.answers <- answer{response, err}
	}
}

func (r roundTrips) RoundTrip(request *http.Request) (*http.Response, error) {
	time.Sleep(roundTrip)
	outside := request.Clone(context.Background())
	if request.Body != nil {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return nil, err
		}
		outside.Body = io.NopCloser(bytes.NewReader(body))
	}
	c := <-r
	defer func() { r <- c }()
	c.requests <- outside
	got := <-c.answers
	return got.response, got.err
}

// roundsOf returns how many round trips, one after the other, an installation takes. The transport of the
// installer must be a roundTrips.
func roundsOf(t *testing.T, in *installer.Installer, p installer.Project, o installer.InstallOptions) int {
	t.Helper()
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		mustInstall(t, in, p, o)
		took = time.Since(began)
	})
	return int(took / roundTrip)
}

// chain returns a configuration whose root module calls the first of several packages, each of
// which calls the next. source and at are the address and the path in the world of package %d.
func chain(depth int, source, at string) string {
	var b strings.Builder
	for i := range depth + 1 {
		if i == 0 {
			b.WriteString("-- config/main.tf --\n")
		} else {
			fmt.Fprintf(&b, "-- %s/main.tf --\n", fmt.Sprintf(at, i))
		}
		if i < depth {
			fmt.Fprintf(&b, "module \"m%d\" {\n%s}\n", i+1, fmt.Sprintf(source, i+1))
		}
	}
	return b.String()
}

// fresh removes the installed modules. It returns an installer that uses the transport and has
// an empty cache and state.
func (p *project) fresh(t *testing.T, transport http.RoundTripper) *installer.Installer {
	t.Helper()
	p.remove(t, ".terraform")
	p.world.ResetRequests()
	return installer.New(installer.Options{
		HTTPClient: &http.Client{Transport: transport},
		// The git program would not use the transport.
		Fetcher:  &getmodules.Fetcher{Git: getmodules.Git{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}}},
		CacheDir: t.TempDir(), StateDir: t.TempDir(),
	})
}

// With a lock, a run takes as many round trips as a single package does, regardless of how
// deeply calls are nested.
func TestPrefetchRoundTrips(t *testing.T) {
	t.Parallel()
	const depth = 5
	for _, test := range []struct {
		name       string
		source, at string
		// requests is the number of requests for each package, and discovery the number in
		// addition.
		requests, discovery int
		rounds              int
	}{
		{"registry", "  source  = \"MODTEST_HOST/acme/p%d/aws\"\n  version = \"~> 1.0\"\n", "registry/acme/p%d/aws/1.2.0", 3, 1, 3},
		{"git", "  source = \"git::https://MODTEST_HOST/git/p%d.git?ref=v1.2.0\"\n", "git/p%d.git/v1.2.0", 2, 0, 1},
		{"git, range of versions", "  source = \"git::https://MODTEST_HOST/git/p%d.git?version=~> 1.0\"\n", "git/p%d.git/v1.2.0", 2, 0, 1},
		{"archives", "  source = \"https://MODTEST_HOST/archives/p%d.zip\"\n", "archives/p%d.zip", 1, 0, 1},
		{"oci", "  source = \"oci://MODTEST_HOST/p%d?tag=1.0.0\"\n", "oci/p%d/1.0.0", 3, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := world(t, chain(depth, test.source, test.at))
			p.mustInstall(t, request{})
			in := p.fresh(t, newRoundTrips(t, p.world))
			if rounds := roundsOf(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true}); rounds > test.rounds {
				t.Errorf("%d round trips, want %d", rounds, test.rounds)
			}
			discovery, asked := 0, map[string]int{}
			for _, request := range p.world.Requests() {
				asked[request.String()]++
				if path.Dir(request.Path) == "/.well-known" {
					discovery++
				}
			}
			if n := len(p.world.Requests()) - discovery; n > depth*test.requests || discovery > test.discovery {
				t.Errorf("%d requests beside %d of discovery, want %d for each of %d packages beside %d:\n%v",
					n, discovery, test.requests, depth, test.discovery, asked)
			}
			p.mustVerify(t, request{Project: installer.Project{Dir: p.dir}})
		})
	}
}

// registryChain returns a project whose root module calls acme/p1/aws as m1. That calls
// acme/p2/aws as m2, and so on until m1.m2.m3.m4.m5. The project is installed and locked.
func registryChain(t *testing.T) *project {
	t.Helper()
	text := chain(5, "  source  = \"MODTEST_HOST/acme/p%d/aws\"\n  version = \"~> 1.0\"\n", "registry/acme/p%d/aws/1.2.0")
	p := newProject(t, txtar.Parse([]byte(text)), modtest.Options{Archives: true})
	p.mustInstall(t, request{})
	return p
}

// askedFor returns the number of requests for each package of a registryChain, such as "p1:2
// p3:1". The packages in except are left out.
func (p *project) askedFor(except ...string) string {
	asked := make(map[string]int)
	for _, request := range p.world.Requests() {
		for _, part := range strings.Split(request.Path, "/") {
			if len(part) == 2 && part[0] == 'p' && !slices.Contains(except, part) {
				asked[part]++
			}
		}
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		counts = append(counts, fmt.Sprintf("%s:%d", name, asked[name]))
	}
	return strings.Join(counts, " ")
}

func (p *project) block(t *testing.T, key string) string {
	t.Helper()
	_, rest, found := strings.Cut(p.file(".terraform.lock.hcl"), "\nmodule \""+key+"\" {\n")
	block, _, closed := strings.Cut(rest, "\n}\n")
	if !found || !closed {
		t.Fatalf("the lock has no entry for %s", key)
	}
	return "\nmodule \"" + key + "\" {\n" + block + "\n}\n"
}

// editLock replaces a text in the lock.
func (p *project) editLock(t *testing.T, from, to string) {
	t.Helper()
	p.write(t, ".terraform.lock.hcl", strings.Replace(p.file(".terraform.lock.hcl"), from, to, 1))
}

// Packages in the lock are prefetched once, and only if the installation will need them, as far
// as that can be known.
func TestPrefetch(t *testing.T) {
	t.Parallel()
	locked := request{InstallOptions: installer.InstallOptions{Locked: true}}
	for _, test := range []struct {
		name   string
		change func(*testing.T, *project)
		req    request
		asked  string
		// fails is a part of the error. If it is "", the run succeeds, and the lock is the same
		// as before change.
		fails string
		// below are packages below the one that fails. Their downloads are canceled.
		below []string
	}{
		{name: "all", req: locked, asked: "p1:2 p2:2 p3:2 p4:2 p5:2"},
		{name: "lock may change", asked: "p1:2 p2:2 p3:2 p4:2 p5:2"},
		{name: "dry run", req: request{InstallOptions: installer.InstallOptions{DryRun: true}}, asked: "p1:2 p2:2 p3:2 p4:2 p5:2"},
		{name: "unified", req: request{InstallOptions: installer.InstallOptions{Unify: true}}, asked: "p1:2 p2:2 p3:2 p4:2 p5:2"},
		{name: "offline", req: request{InstallOptions: installer.InstallOptions{Locked: true, Offline: true}}, asked: "", fails: "module m1 "},
		{
			name: "a policy denies one", req: locked, asked: "p1:2 p2:2", fails: "the policy does not allow it", below: []string{"p4", "p5"},
			change: func(t *testing.T, p *project) {
				p.write(t, "cotter.hcl", "policy {\n  deny_sources = [\"MODTEST_HOST/acme/p3\"]\n}\n")
			},
		},
		{
			name: "the lock does not decide on the first", asked: "p1:1", fails: "module m1 ",
			change: func(t *testing.T, p *project) {
				p.write(t, "main.tf", strings.Replace(p.file("main.tf"), "~> 1.0", "~> 2.0", 1))
			},
		},
		{
			name: "the first is updated", req: request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{"m1"}}}}}, asked: "p1:3 p2:2 p3:2 p4:2 p5:2",
		},
		{
			name: "an entry is missing", asked: "p1:2 p2:2 p3:3 p4:2 p5:2",
			change: func(t *testing.T, p *project) { p.dropEntry(t, "m1.m2.m3") },
		},
		{
			name: "an entry is missing and may not be added", req: locked, asked: "p1:2 p2:2", fails: "m1.m2.m3", below: []string{"p4", "p5"},
			change: func(t *testing.T, p *project) { p.dropEntry(t, "m1.m2.m3") },
		},
		{
			name: "an entry below a call that is gone", asked: "p1:2 p2:2 p3:2 p4:2 p5:2",
			change: func(t *testing.T, p *project) {
				block := p.block(t, "m1.m2")
				p.editLock(t, block, block+strings.ReplaceAll(strings.ReplaceAll(block, "m1.m2", "m9.gone"), "p2", "p9"))
			},
		},
		{
			name: "one is not there", req: locked, asked: "p1:2 p2:2 p3:2 p4:2", below: []string{"p5"}, // p4's location, and its list for another form of the version
			fails: "module m1.m2.m3.m4 (.terraform/modules/m1.m2.m3/main.tf:2",
			change: func(_ *testing.T, p *project) {
				p.world.SetFaults(modtest.Fault{Path: "/v1/modules/acme/p4/", Status: http.StatusNotFound})
			},
		},
		{
			name: "an entry with the hashes of another one", req: locked, asked: "p1:2 p2:2 p3:2", below: []string{"p4", "p5"},
			fails: "module m1.m2.m3 (.terraform/modules/m1.m2/main.tf:2): Module checksum verification failed",
			change: func(t *testing.T, p *project) {
				_, right, _ := strings.Cut(p.block(t, "m1.m2.m3"), "hashes")
				_, wrong, _ := strings.Cut(p.block(t, "m1.m2"), "hashes")
				p.editLock(t, right, wrong)
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := registryChain(t)
			before := p.file(".terraform.lock.hcl")
			if test.change != nil {
				test.change(t, p)
			}
			p.installFresh(t, test.req, before, test.fails)
			if diff := cmp.Diff(test.asked, p.askedFor(test.below...)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// installFresh installs with nothing but the project's lock. The run must either succeed with
// the given lock, or fail with a message that contains the text in fails once.
func (p *project) installFresh(t *testing.T, req request, lock, fails string) {
	t.Helper()
	in := p.fresh(t, p.world.HTTPClient().Transport)
	req.Dir = p.dir
	_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
	switch message := errorText(err); {
	case fails == "" && err != nil:
		t.Fatal(err)
	case fails != "" && strings.Count(message, fails) != 1:
		t.Errorf("Install: %q, want an error that says %q once", message, fails)
	case fails == "" && p.file(".terraform.lock.hcl") != lock:
		t.Errorf("the lock (-before +after):\n%s", cmp.Diff(lock, p.file(".terraform.lock.hcl")))
	}
}

// A lock entry that no module calls any more does not make a run fail. It does not delay the run
// either, even if its server never answers.
func TestPrefetchStaleEntry(t *testing.T) {
	t.Parallel()
	p := registryChain(t)
	before, block := p.file(".terraform.lock.hcl"), p.block(t, "m1.m2")
	p.editLock(t, block, block+strings.ReplaceAll(strings.ReplaceAll(block, "m1.m2", "m1.stale"), "p2", "p9"))
	p.world.SetFaults(modtest.Fault{Path: "/v1/modules/acme/p9/", Delay: time.Hour})
	in := p.fresh(t, p.world.HTTPClient().Transport)
	mustInstall(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if diff := cmp.Diff(before, p.file(".terraform.lock.hcl")); diff != "" {
		t.Errorf("the lock (-before +after):\n%s", diff)
	}
}

// All packages are requested from a mirror at once, and none from their origins.
func TestPrefetchMirror(t *testing.T) {
	t.Parallel()
	p := registryChain(t)
	address := "oci://" + string(p.world.Host()) + "/corp/modules"
	pusher := p.installer()
	target, err := mirror.Open(pusher.Options().Fetcher.(*getmodules.Fetcher), address)
	testenv.Must(t, err)
	if _, err := mirror.Push(t.Context(), pusher, projects(p.dir), installer.LockedOptions{}, target); err != nil {
		t.Fatal(err)
	}
	in := p.fresh(t, newRoundTrips(t, p.world))
	stored, err := mirror.Open(in.Options().Fetcher.(*getmodules.Fetcher), address)
	testenv.Must(t, err)
	in = with(in, func(o *installer.Options) { o.Stores = []installer.PackageStore{stored} })
	rounds := roundsOf(t, in, installer.Project{Dir: p.dir}, installer.InstallOptions{Locked: true})
	if n := len(p.world.Requests()); n != 2*5 || p.askedFor() != "" || rounds > 2 {
		t.Errorf("%d requests in %d round trips, of which to origins %q, want 10 in 2 to none", n, rounds, p.askedFor())
	}
}

// A locked provider is fetched concurrently with the modules, although the one that requires it is not there
// yet.
func TestPrefetchProvider(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
module "m1" {
  source = "MODTEST_HOST/acme/p1/aws"
}
-- registry/acme/p1/aws/1.2.0/main.tf --
terraform {
  required_providers {
    cloud = {
      source = "MODTEST_HOST/acme/cloud"
    }
  }
}
-- providers/acme/cloud/1.0.0/`+addrs.CurrentPlatform().String()+`/terraform-provider-cloud --
1.0.0
`)
	both := request{Project: installer.Project{Dir: p.dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	mustInstall(t, p.world.Installer(), both.Project, both.InstallOptions)
	in := p.fresh(t, newRoundTrips(t, p.world))
	both.Locked = true
	// The round trips are discovery, the locations of both packages, and the packages
	// themselves.
	if rounds := roundsOf(t, in, both.Project, both.InstallOptions); rounds > 3 {
		t.Errorf("%d round trips, want 3:\n%v", rounds, p.world.Requests())
	}
}
