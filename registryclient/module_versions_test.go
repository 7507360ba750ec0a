package registryclient_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

func TestModuleVersions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want []string // the expected refs
	}{
		"plain":               {`{"modules":[{"versions":[{"version":"1.0.0"},{"version":"2.0.0"}]}]}`, []string{"1.0.0", "2.0.0"}},
		"order kept":          {`{"modules":[{"versions":[{"version":"2.0.0"},{"version":"1.0.0"}]}]}`, []string{"2.0.0", "1.0.0"}},
		"more than versions":  {`{"x":[],"modules":[{"source":"other/x/y","versions":[{"version":"1.0.0","root":{"deps":[]},"submodules":7}]}]}`, []string{"1.0.0"}},
		"as spelled":          {`{"modules":[{"versions":[{"version":"v1.0"},{"version":"01.2.3"}]}]}`, []string{"v1.0", "01.2.3"}},
		"first spelling":      {`{"modules":[{"versions":[{"version":"v1.0.0"},{"version":"1.0.0"},{"version":"1.0"}]}]}`, []string{"v1.0.0"}},
		"metadata is no copy": {`{"modules":[{"versions":[{"version":"1.0.0+a"},{"version":"1.0.0+b"}]}]}`, []string{"1.0.0+a", "1.0.0+b"}},
		"not versions":        {`{"modules":[{"versions":[{"version":"latest"},{"version":""},{"version":" 1.0.0"},{},null,{"version":null},{"version":"3.0.0"}]}]}`, []string{"3.0.0"}},
		"second module":       {`{"modules":[{"versions":[{"version":"1.0.0"}]},{"versions":[{"version":"9.0.0"}]}]}`, []string{"1.0.0"}},
		"broken second":       {`{"modules":[{"versions":[{"version":"1.0.0"}]},7]}`, []string{"1.0.0"}},
		"no versions":         {`{"modules":[{"versions":[]}]}`, nil},
		"null versions":       {`{"modules":[{"versions":null}]}`, nil},
		"missing versions":    {`{"modules":[{}]}`, nil},
		"other case":          {`{"Modules":[{"VERSIONS":[{"version":"1.0.0"}]}]}`, []string{"1.0.0"}}, // as in stock tools
		"other keys twice":    {`{"x":1,"x":2,"modules":[{"versions":[{"version":"1.0.0","root":{"a":1,"A":2}}]}]}`, []string{"1.0.0"}},
	}
	for name, test := range tests {
		web := serve(t, text(test.body))
		found, err := client(web).ModuleVersions(t.Context(), pkg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var refs []string
		for _, c := range found {
			refs = append(refs, c.Ref)
			if c.Version != versions.MustParse(c.Ref) || c.Revision != "" {
				t.Errorf("%s: candidate %+v", name, c)
			}
		}
		if diff := cmp.Diff(test.want, refs); diff != "" {
			t.Errorf("%s: refs (-want +got):\n%s", name, diff)
		}
		if got := web.Requests()[0].URL.String(); got != origin+versionsPath {
			t.Errorf("%s: asked for %q", name, got)
		}
	}
}

// TestDuplicateKeys refuses answers that other programs read in another way.
func TestDuplicateKeys(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"modules":[{"versions":[{"version":"1.0.0"}]}],"modules":[]}`,
		`{"Modules":[],"modules":[{"versions":[{"version":"1.0.0"}]}]}`,
		`{"modules":[{"versions":[{"version":"1.0.0"}],"Versions":[]}]}`,
		`{"modules":[{"versions":[{"version":"2.0.0"},{"version":"1.0.0","VERSION":"1.0.1"}]}]}`,
	} {
		if _, err := client(serve(t, text(body))).ModuleVersions(t.Context(), pkg); !errors.Is(err, registryclient.ErrInvalidAnswer) {
			t.Errorf("%s: error is %v, want ErrInvalidAnswer", body, err)
		}
	}
	provider := `{"versions":[{"version":"1.0.0","platforms":[{"os":"linux","OS":"darwin","arch":"amd64"}]}]}`
	if _, err := client(serve(t, text(provider))).ProviderVersions(t.Context(), cloud); !errors.Is(err, registryclient.ErrInvalidAnswer) {
		t.Errorf("%s: error is %v, want ErrInvalidAnswer", provider, err)
	}
}

// The age of a version in an answer of OpenTofu's registry is used if it is valid. An invalid
// value is ignored.
func TestDiscovered(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 15, 0, 40, 0, time.UTC)
	for value, want := range map[string]time.Time{
		`"2026-06-01T15:00:40Z"`:      at,
		`"2026-06-01T17:00:40+02:00"`: at,
		`"2026-06-01T15:00:40.5Z"`:    at.Add(time.Second / 2),
		`"2026-06-01"`:                {},
		`""`:                          {},
		`1780326040`:                  {},
		`null`:                        {},
		`{"at":[]}`:                   {},
	} {
		web := serve(t, text(`{"modules":[{"versions":[{"version":"1.0.0","discovered":`+value+`}]}]}`))
		found, err := client(web).ModuleVersions(t.Context(), pkg)
		if err != nil || len(found) != 1 || found[0].Published != want {
			t.Errorf("discovered %s: %+v, %v, want %s", value, found, err, want)
		}
	}
}

// TestInvalidListings checks the error. Package internal/hostile has more listings.
func TestInvalidListings(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"HTML":       `<html>`,
		"no modules": `{"modules":[]}`,
		"number":     `{"modules":[{"versions":[{"version":1}]}]}`,
		"too many":   `{"modules":[{"versions":[` + strings.Repeat(`{},`, 100_000) + `{}]}]}`,
		"too large":  `{"modules":[{}]}` + strings.Repeat(" ", 32<<20),
	} {
		web := serve(t, text(body))
		_, err := client(web).ModuleVersions(t.Context(), pkg)
		e, ok := errors.AsType[*registryclient.RequestError](err)
		if !ok || !errors.Is(err, registryclient.ErrInvalidAnswer) || e.StatusCode != http.StatusOK && name != "too large" || e.Package != pkg || len(web.Requests()) != 1 {
			t.Errorf("%s: ModuleVersions = %v after %d requests, want ErrInvalidAnswer after one", name, err, len(web.Requests()))
		}
	}
}

func TestListingsAreShared(t *testing.T) {
	t.Parallel()
	web := serve(t, text(`{"modules":[{"versions":[{"version":"1.0.0"}]}]}`))
	c := client(web)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			found, err := c.ModuleVersions(t.Context(), pkg)
			if err != nil || len(found) != 1 {
				t.Errorf("ModuleVersions = %v, %v", found, err)
				return
			}
			found[0].Ref = "changed"
		})
	}
	wg.Wait()
	found, err := c.ModuleVersions(t.Context(), pkg)
	if err != nil || found[0].Ref != "1.0.0" {
		t.Errorf("ModuleVersions = %v, %v, want what the registry listed", found, err)
	}
	other := pkg
	other.Name = "other"
	if _, err := c.ModuleVersions(t.Context(), other); err != nil {
		t.Error(err)
	}
	if got := len(web.Requests()); got != 2 {
		t.Errorf("%d requests, want one for each of 2 packages", got)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	tests := []struct{ base, want string }{
		{origin + "/v1/", origin + "/v1/acme/net/aws/1.2.0+b/download"},
		{origin + "/v1", origin + "/v1/acme/net/aws/1.2.0+b/download"},
		{origin + "/", origin + "/acme/net/aws/1.2.0+b/download"},
		{origin, origin + "/acme/net/aws/1.2.0+b/download"},
		{origin + "/to/https://b.example.com//v1/../", origin + "/to/https://b.example.com//v1/../acme/net/aws/1.2.0+b/download"},
		{origin + "/a%2Fb/?token=x", origin + "/a%2Fb/acme/net/aws/1.2.0+b/download"},
	}
	for _, test := range tests {
		web := serve(t, text(at("https://example.com/x.zip")))
		c := client(web)
		c.Services = services{base: test.base}
		if _, err := c.PackageLocation(t.Context(), pkg, versions.MustParse("v1.2+b")); err != nil {
			t.Errorf("%s: %v", test.base, err)
			continue
		}
		if got := web.Requests()[0].URL.String(); got != test.want {
			t.Errorf("%s: asked for %q, want %q", test.base, got, test.want)
		}
	}
}

func TestPartsThatNobodyParsed(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"", ".", ".."} {
		bad := addrs.ModuleRegistryPackage{Host: "example.com", Namespace: "a", Name: part, TargetSystem: "b"}
		web := serve(t, text(`{"modules":[{}]}`))
		if _, err := client(web).ModuleVersions(t.Context(), bad); err == nil || len(web.Requests()) > 0 {
			t.Errorf("the name %q: error %v, %d requests", part, err, len(web.Requests()))
		}
	}
	odd := addrs.ModuleRegistryPackage{Host: "example.com", Namespace: "a/../b", Name: "c?d", TargetSystem: "e#\r\nX: y"}
	web := serve(t, text(`{"modules":[{}]}`))
	if _, err := client(web).ModuleVersions(t.Context(), odd); err != nil {
		t.Fatal(err)
	}
	if got, want := web.Requests()[0].RequestURI, "/v1/a%2F..%2Fb/c%3Fd/e%23%0D%0AX:%20y/versions"; got != want {
		t.Errorf("asked for %q, want %q", got, want)
	}
}
