package cotter_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

// roundTrip is how long each request takes on the clock of a bubble.
const roundTrip = time.Second

// roundTrips is a transport of a world whose requests take just one roundTrip on the clock
// of a bubble. Answers come from goroutines outside of the bubble, so that its clock stands
// still while they wait for the network.
type roundTrips chan *courier

// courier carries one request at a time out of the bubble.
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

// chain is a configuration of calls of packages that call each other: the root module
// calls the first one. SOURCE and AT are where package %d is, for calls and in the world.
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

// fresh is the project on a machine that has nothing but its lock, and an installer whose
// requests take one roundTrip.
func (p *project) fresh(t *testing.T, transport http.RoundTripper) *cotter.Installer {
	t.Helper()
	p.remove(t, ".terraform")
	p.world.ResetRequests()
	return cotter.New(cotter.Options{
		HTTPClient: &http.Client{Transport: transport},
		// Git itself would not use the transport.
		Fetcher:  &getmodules.Fetcher{Git: getmodules.Git{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}}},
		CacheDir: t.TempDir(), StateDir: t.TempDir(),
	})
}

// However deep calls are nested, a run with a lock takes the round trips of one package.
func TestPrefetchRoundTrips(t *testing.T) {
	t.Parallel()
	const depth = 5
	for _, test := range []struct {
		name       string
		source, at string
		// requests are those for a package; discovery comes once.
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
			p.mustInstall(t, cotter.Request{})
			in := p.fresh(t, newRoundTrips(t, p.world))
			var took time.Duration
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				if _, err := in.Install(t.Context(), cotter.Request{Dir: p.dir, Locked: true}); err != nil {
					t.Fatal(err)
				}
				took = time.Since(began)
			})
			if rounds := int(took / roundTrip); rounds > test.rounds {
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
			p.mustVerify(t, cotter.Request{Dir: p.dir})
		})
	}
}
