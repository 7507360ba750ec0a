package getmodules_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/ocistore"
)

// TestUserAgent checks the User-Agent header of a Fetcher's requests.
func TestUserAgent(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "cotter", "tool/1.2.3": "tool/1.2.3"} {
		web := webtest.New(t)
		web.Serve("https://example.com", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(sampleZip()) })
		f := newHTTPFetcher()
		f.HTTPClient, f.UserAgent = web.Client(), given
		if _, _, err := fetchURL(t, f, "https://example.com/a.zip"); err != nil {
			t.Error(err)
		}
		if got := web.Requests()[0].UserAgent(); got != want {
			t.Errorf("an archive is requested as %q, want %q", got, want)
		}
		world := modtest.New(t, modtest.Txtar(ociTree))
		f = newOCIFetcher(world)
		f.UserAgent = given
		if _, _, err := fetchURL(t, f, world.OCISource("net", "")); err != nil {
			t.Error(err)
		}
		for _, r := range world.Requests() {
			if got := r.Header.Get("User-Agent"); got != want {
				t.Errorf("%s is requested as %q, want %q", r.Path, got, want)
			}
		}
	}
}

// TestMessagesOfHTTP checks complete error messages, in which no address is repeated
// needlessly.
func TestMessagesOfHTTP(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://example.com", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop.zip":
			http.Redirect(w, r, "/loop.zip", http.StatusFound)
		case "/plain.zip":
			http.Redirect(w, r, "http://example.com/x.zip", http.StatusFound)
		case "/moved.zip":
			http.Redirect(w, r, "https://nowhere.example/x.zip", http.StatusFound)
		case "/page":
			w.Header().Set("X-Terraform-Get", "https://example.com/404.zip")
		case "/sum.zip":
			_, _ = w.Write(sampleZip())
		case "/v2/token/manifests/latest":
			w.Header().Set("Www-Authenticate", `Bearer realm="https://example.com/token",service="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		case "/token":
			w.WriteHeader(http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	})
	const missing = "the server answered 404 Not Found; check the address, and credentials if the package is private"
	for address, want := range map[string]string{
		"https://example.com/404.zip":                                        missing,
		"https://example.com/page":                                           `the page points to "https://example.com/404.zip": ` + missing,
		"https://example.com/loop.zip":                                       `refused location: "https://example.com/loop.zip" redirects to "https://example.com/loop.zip": that is more than 5 redirects in a row`,
		"https://example.com/plain.zip":                                      `refused location: the server redirects to "http://example.com/x.zip": redirects from https to http are not followed`,
		"https://example.com/moved.zip":                                      `after a redirect to "https://nowhere.example/x.zip": dial tcp: connection refused (after 4 attempts)`,
		"https://nowhere.example/x.zip":                                      "dial tcp: connection refused (after 4 attempts)",
		"https://example.com/sum.zip?checksum=file:https://example.com/sums": `checksum argument: the file of checksums at "https://example.com/sums": ` + missing,
		"oci://example.com/none":                                             missing,
		"oci://example.com/token":                                            `the registry's token service at "https://example.com": the server answered 403 Forbidden; check the credentials for this host`,
	} {
		f := newHTTPFetcher()
		f.HTTPClient = web.Client()
		_, _, err := fetchURL(t, f, address)
		want = fmt.Sprintf("cannot fetch %q: %s", addrs.Redact(address), want)
		if err == nil || err.Error() != want {
			t.Errorf("%s: error is\n%v, want\n%s", address, err, want)
		}
	}
}

// TestUnknownLength fetches an archive of unknown length, which ends when the connection
// is closed.
func TestUnknownLength(t *testing.T) {
	t.Parallel()
	site := newSite(t, map[string]http.HandlerFunc{"/a.zip": func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.0 200 OK\r\n\r\n"+string(sampleZip()))
	}})
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip"); err != nil {
		t.Errorf("error is %v, want none: the archive itself shows its end", err)
	}
}

type otherRepository struct{ ocistore.Repository }

type wrapper struct{ *getmodules.Fetcher }

func (w wrapper) OCIRepository(ctx context.Context, req getmodules.Request) (ocistore.Repository, error) {
	inner, err := w.Fetcher.OCIRepository(ctx, req)
	return otherRepository{inner}, err
}

// TestOCIRepositoryCanBeWrapped lists tags through a wrapped repository.
func TestOCIRepositoryCanBeWrapped(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	repository, err := wrapper{newOCIFetcher(world)}.OCIRepository(t.Context(), getmodules.Request{Package: pkgOf(world.OCISource("net", ""))})
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	err = repository.Tags(t.Context(), "", func(page []string) error {
		tags = append(tags, page...)
		return nil
	})
	if err != nil || !strings.Contains(strings.Join(tags, " "), "latest") {
		t.Errorf("Tags = %q, %v", tags, err)
	}
}
