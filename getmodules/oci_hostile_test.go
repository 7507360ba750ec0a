package getmodules_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

// TestOCILies uses registries whose answers are wrong in some way. Package internal/hostile has more manifests.
func TestOCILies(t *testing.T) {
	t.Parallel()
	const manifests, blobs = "/v2/net/manifests/", "/v2/net/blobs/"
	header := func(name, value string) http.Header { return http.Header{name: {value}} }
	tests := []struct {
		name  string
		fault modtest.Fault
		want  error
	}{
		{"another digest of the layer", modtest.Fault{Path: blobs, Header: header("Docker-Content-Digest", someDigest)}, getmodules.ErrOCIContent},
		{"another layer", modtest.Fault{Path: blobs, Status: 200, Body: "x"}, getmodules.ErrOCIContent},
		{"an empty layer", modtest.Fault{Path: blobs, Status: 200}, getmodules.ErrOCIContent},
		{"no content", modtest.Fault{Path: blobs, Status: 204}, nil},
		{"half a layer", modtest.Fault{Path: blobs, Truncate: true}, io.ErrUnexpectedEOF},
		{"half a manifest", modtest.Fault{Path: manifests, Truncate: true}, io.ErrUnexpectedEOF},
		{"forbidden", modtest.Fault{Path: blobs, Status: 403}, getmodules.ErrAuthentication},
		{"an unknown challenge", modtest.Fault{Path: manifests, Status: 401, Header: header("Www-Authenticate", "Negotiate")}, getmodules.ErrAuthentication},
		{"broken for good", modtest.Fault{Path: manifests, Status: 500, Body: `{"errors":[{"code":"X","message":"\u001b[2Jhunter2"}]}`}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.New(t, modtest.Txtar(ociTree))
			address := world.OCISource("net", "?digest="+ociDigest(t, world, "net", "latest"))
			world.SetFaults(test.fault)
			_, _, err := fetchURL(t, newOCIFetcher(world), address)
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("error is %v, want %v", err, test.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b\n\u202e") {
				t.Errorf("error %q has control characters", err)
			}
		})
	}
}

func TestOCIRetries(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(ociTree), modtest.Options{OCIBearer: true, FailFirst: 1})
	if _, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource("net", "")); err != nil {
		t.Errorf("each path fails once: %v", err)
	}
	world.SetFaults(modtest.Fault{Path: "/v2/net/blobs/", Truncate: true, Times: 3})
	if _, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource("net", "")); err != nil {
		t.Errorf("the layer breaks off three times: %v", err)
	}
	world.SetFaults(modtest.Fault{Path: "/v2/net/blobs/", Status: 429})
	for attempts, want := range map[int]int{0: 4, 1: 1, 2: 2} {
		world.ResetRequests()
		f := newOCIFetcher(world)
		f.Attempts = attempts
		_, _, err := fetchURL(t, f, world.OCISource("net", ""))
		if status, ok := errors.AsType[*getmodules.StatusError](err); !ok || status.StatusCode != 429 {
			t.Errorf("too many requests: error is %v, want a StatusError 429", err)
		}
		blobs := slices.DeleteFunc(asked(world), func(line string) bool { return !strings.HasPrefix(line, "GET /v2/net/blobs/") })
		if len(blobs) != want {
			t.Errorf("with Attempts %d, %d requests for the layer, want %d", attempts, len(blobs), want)
		}
	}
}

func TestOCILimits(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	f := newOCIFetcher(world)
	f.Limits.DownloadBytes = 100
	if _, _, err := fetchURL(t, f, world.OCISource("net", "")); !errors.Is(err, getmodules.ErrTooLarge) || len(world.Requests()) != 1 {
		t.Errorf("a large layer: error is %v, want ErrTooLarge before it is asked for", err)
	}
}

func TestOCICancelled(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	world.SetFaults(modtest.Fault{Path: "/v2/net/blobs/", Delay: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	f := newOCIFetcher(world)
	f.HTTPClient.Transport = cancelAtBlob{f.HTTPClient.Transport, cancel}
	box := newSandbox(t)
	_, err := f.Fetch(ctx, getmodules.Request{Package: pkgOf(world.OCISource("net", "")), Dir: box.dir})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// cancelAtBlob calls cancel when the layer is requested.
type cancelAtBlob struct {
	http.RoundTripper
	cancel func()
}

func (c cancelAtBlob) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.URL.Path, "/blobs/") {
		c.cancel()
	}
	return c.RoundTripper.RoundTrip(r)
}

// TestOCIRedirects redirects the request for the layer. Credentials are sent only to the
// registry's own origin, and no longer once a redirect has left it.
func TestOCIRedirects(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(ociTree), modtest.Options{OCIUser: "user", OCIPassword: "hunter2"})
	var tookAlong []string
	storage := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tookAlong = append(tookAlong, r.Header.Get("Authorization")+r.Header.Get("Cookie")+r.Referer())
		http.Redirect(w, r, world.URL()+"/v2/net/blobs/back", http.StatusTemporaryRedirect)
	}))
	defer storage.Close()
	f := newOCIFetcher(world)
	f.HTTPClient.Transport = trustBoth{world.HTTPClient().Transport, storage.Client().Transport, storage.URL}
	f.OCICredentials = credentials(getmodules.OCICredential{Username: "user", Password: "hunter2"}, new([]string))
	for location, want := range map[string]error{
		storage.URL + "/x?sig=hunter2":             getmodules.ErrAuthentication, // redirects back to the registry
		world.PlainURL() + "/v2/net/blobs/back":    getmodules.ErrRefusedLocation,
		"file:///etc/passwd":                       getmodules.ErrRefusedLocation,
		"https://MODTEST_HOST/v2/net/blobs/sha256": getmodules.ErrRefusedLocation, // a redirect loop
	} {
		world.SetFaults(modtest.Fault{Path: "/v2/net/blobs/sha256", Status: 307, Header: http.Header{"Location": {location}}})
		if _, _, err := fetchURL(t, f, world.OCISource("net", "")); !errors.Is(err, want) {
			t.Errorf("%s: error is %v, want %v", location, err, want)
		}
	}
	if diff := cmp.Diff([]string{""}, tookAlong); diff != "" {
		t.Errorf("the storage was given (-want +got):\n%s", diff)
	}
	for _, r := range world.Requests() {
		if r.Path == "/v2/net/blobs/back" && r.Header.Get("Authorization") != "" {
			t.Errorf("credentials came back with %v", r)
		}
	}
}

// trustBoth is a transport for the test world and one other server.
type trustBoth struct {
	world, other http.RoundTripper
	url          string
}

func (b trustBoth) RoundTrip(r *http.Request) (*http.Response, error) {
	if u, err := url.Parse(b.url); err == nil && r.URL.Host == u.Host {
		return b.other.RoundTrip(r)
	}
	return b.world.RoundTrip(r)
}

// TestOCIStorage fetches from a registry that, like most, stores its layers on another
// server.
func TestOCIStorage(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	if _, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource("net", "")); err != nil {
		t.Fatal(err)
	}
	blob := world.Requests()[1].Path
	elsewhere := func(path string) {
		location := "https://storage.example.com" + path + "?sig=hunter2"
		world.SetFaults(modtest.Fault{Path: blob, Times: 1, Status: 307, Header: http.Header{"Location": {location}}})
	}
	elsewhere(blob)
	if got, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource("net", "")); err != nil || got["main.tf"] != "# new\n" {
		t.Errorf("a layer that is elsewhere: %v, %v", got, err)
	}
	elsewhere("/files/none")
	_, _, err := fetchURL(t, newOCIFetcher(world), world.OCISource("net", ""))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "storage.example.com") {
		t.Errorf("a layer that is nowhere: error is %v, want fs.ErrNotExist at the storage", err)
	}
}
