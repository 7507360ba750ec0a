package getmodules_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/versions"
)

func pkgOf(address string) addrs.ModulePackage { return addrs.ParseModulePackage(address) }

func openOCI(t testing.TB, f *getmodules.Fetcher, address string) ocistore.Repository {
	t.Helper()
	repo, err := f.OCIRepository(t.Context(), getmodules.Request{Package: pkgOf(address)})
	testenv.Must(t, err)
	return repo
}

// manyTags returns the text of a world whose repository net has count tags of each of two
// forms, v1.0.NNN and 1.0.N.
func manyTags(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "-- oci/net/v1.0.%03d/main.tf --\n-- oci/net/1.0.%d/main.tf --\n", i, i)
	}
	return text.String()
}

func TestOCITags(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		opts  modtest.Options
		pages int
	}{
		{modtest.Options{}, 1},
		{modtest.Options{OCIPageSize: 100}, 3},
		{modtest.Options{OCIOnePage: true}, 1},
		{modtest.Options{OCIPageSize: 100, FailFirst: 1}, 4},
		{modtest.Options{OCIPageSize: 100, OCIBearer: true}, 4},
	} {
		world := modtest.NewWith(t, modtest.Txtar(manyTags(125)), test.opts)
		found, err := versions.FromOCITags(t.Context(), openOCI(t, newOCIFetcher(world), world.OCISource("net", "?tag=none")))
		if err != nil {
			t.Errorf("%+v: %v", test.opts, err)
		}
		// Of the tags v1.0.NNN, most are not versions, because they have leading zeros.
		if len(found) < 125 || found[0].Ref != "1.0.0" {
			t.Errorf("%+v: %d versions", test.opts, len(found))
		}
		pages := slices.DeleteFunc(asked(world), func(line string) bool { return !strings.HasPrefix(line, "GET /v2/net/tags/list?") })
		if len(pages) != test.pages {
			t.Errorf("%+v: requests are %q, want %d for tags", test.opts, pages, test.pages)
		}
	}
}

// The error for a tag that does not exist names the tags that resemble it, or else the newest.
func TestOCITagNotFound(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(`
-- oci/net/1.0.0/main.tf --
-- oci/net/1.1.0/main.tf --
-- oci/net/latest-main/main.tf --
`))
	for _, test := range []struct {
		name, tag string
		want      []string
	}{
		{"a prefix", "v1.1.0", []string{"1.1.0"}},
		{"nothing like it", "stable", []string{"1.1.0", "1.0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := newOCIFetcher(world).Fetch(t.Context(), getmodules.Request{
				Package: pkgOf(world.OCISource("net", "?tag="+test.tag)), Dir: filepath.Join(t.TempDir(), "net"),
			})
			missing, ok := errors.AsType[*getmodules.RefNotFoundError](err)
			if !ok || missing.Ref != test.tag || cmp.Diff(test.want, missing.Near) != "" || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Fetch = %v, want a *RefNotFoundError near %q", err, test.want)
			}
		})
	}

	// A repository that does not exist has no tags, and an unlisted tag is no proof.
	for _, repository := range []string{"nett", "net"} {
		world := modtest.NewWith(t, modtest.Txtar("-- oci/net/1.0.0/main.tf --\n"), modtest.Options{Faults: []modtest.Fault{{Path: "/v2/net/tags/list", Status: http.StatusForbidden}}})
		_, err := newOCIFetcher(world).Fetch(t.Context(), getmodules.Request{
			Package: pkgOf(world.OCISource(repository, "?tag=2.0.0")), Dir: filepath.Join(t.TempDir(), "net"),
		})
		if _, ok := errors.AsType[*getmodules.RefNotFoundError](err); ok || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: Fetch = %v, want only fs.ErrNotExist", repository, err)
		}
	}
}

func TestOCITagsHostile(t *testing.T) {
	t.Parallel()
	const list = "/v2/net/tags/list"
	link := func(to string) http.Header { return http.Header{"Link": {"<" + to + `>; rel="next"`}} }
	tests := []struct {
		name  string
		fault modtest.Fault
		want  error
	}{
		{"a page that points to itself", modtest.Fault{Path: list, Header: link(list)}, versions.ErrRepeatedPage},
		{"empty pages without an end", modtest.Fault{Path: list, Status: 200, Body: `{"tags":[]}`, Header: link(list)}, getmodules.ErrTooLarge},
		{"the next page elsewhere", modtest.Fault{Path: list, Header: link("https://other.example.com" + list)}, getmodules.ErrOCIContent},
		{"the next page without TLS", modtest.Fault{Path: list, Header: link("http://MODTEST_HOST" + list)}, getmodules.ErrOCIContent},
		{"a page over 4 MiB", modtest.Fault{Path: list, Status: 200, Body: `{"tags":[]` + strings.Repeat(" ", 4<<20) + "}"}, getmodules.ErrTooLarge},
		{"no JSON", modtest.Fault{Path: list, Status: 200, Body: "<html>"}, getmodules.ErrOCIContent},
		{"half a page", modtest.Fault{Path: list, Truncate: true}, nil},
		{"not found", modtest.Fault{Path: list, Status: 404}, fs.ErrNotExist},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.New(t, modtest.Txtar(ociTree))
			world.SetFaults(test.fault)
			got, err := versions.FromOCITags(t.Context(), openOCI(t, newOCIFetcher(world), world.OCISource("net", "")))
			if err == nil || test.want != nil && !errors.Is(err, test.want) || len(got) > 0 {
				t.Errorf("List = %v, %v, want %v", got, err, test.want)
			}
			var fetch *getmodules.FetchError
			if !errors.As(err, &fetch) {
				t.Errorf("error %v is no *FetchError", err)
			}
		})
	}
}

// TestOCITooManyTags uses a single page with more tags than the limit.
func TestOCITooManyTags(t *testing.T) {
	t.Parallel()
	var tags []string
	for i := range 100_001 {
		tags = append(tags, fmt.Sprint(i))
	}
	page, err := json.Marshal(map[string]any{"tags": tags})
	testenv.Must(t, err)
	world := modtest.New(t, modtest.Txtar(""))
	world.SetFaults(modtest.Fault{Path: "/v2/", Status: 200, Body: string(page)})
	_, err = versions.FromOCITags(t.Context(), openOCI(t, newOCIFetcher(world), world.OCISource("net", "")))
	if !errors.Is(err, versions.ErrTooManyTags) || len(world.Requests()) != 1 {
		t.Errorf("error is %v, want ErrTooManyTags after one request", err)
	}
}

func TestOCIDigestOfTag(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(ociTree))
	repo := openOCI(t, newOCIFetcher(world), world.OCISource("net", ""))
	found, err := repo.Resolve(t.Context(), "1.0.0")
	if want := ociDigest(t, world, "net", "1.0.0"); found.Digest.String() != want || err != nil || int64(len(found.Data)) != found.Size {
		t.Errorf("Resolve = %+v, %v, want %q with the content", found, err, want)
	}
	if diff := cmp.Diff([]string{"GET /v2/net/manifests/1.0.0"}, asked(world)); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if _, err := repo.Resolve(t.Context(), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a tag that is not there: error is %v, want fs.ErrNotExist", err)
	}
	for _, tag := range []string{"", "a/b", "x@" + someDigest} {
		if _, err := repo.Resolve(t.Context(), tag); !errors.Is(err, getmodules.ErrOCIAddress) {
			t.Errorf("Resolve(%q): error is %v, want ErrOCIAddress", tag, err)
		}
	}
}

func TestOCIRepositoryRefused(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]error{
		"git::https://example.com/a.git": getmodules.ErrUnsupportedScheme,
		"oci://example.com/A":            getmodules.ErrOCIAddress,
		"oci::https://example.com/a":     getmodules.ErrRefusedLocation,
	} {
		req := getmodules.Request{Package: pkgOf(address), FromServer: true, Origin: "https://registry.example.com"}
		if _, err := new(getmodules.Fetcher).OCIRepository(t.Context(), req); !errors.Is(err, want) {
			t.Errorf("OCIRepository(%q): error is %v, want %v", address, err, want)
		}
	}
}
