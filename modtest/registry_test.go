package modtest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const twoVersions = `
-- registry/acme/net/aws/1.10.0/main.tf --
# ten
-- registry/acme/net/aws/1.2.0-beta.1/main.tf --
# beta
-- registry/acme/net/aws/1.2.0/main.tf --
# two
`

const netAWS = "/v1/modules/acme/net/aws/"

func versions(t *testing.T, world *modtest.World) []string {
	t.Helper()
	var list struct {
		Modules []struct {
			Source   string
			Versions []struct{ Version string }
		}
	}
	r := get(t, world, netAWS+"versions")
	if err := json.Unmarshal([]byte(r.body), &list); err != nil {
		t.Fatalf("versions: %v in %q", err, r.body)
	}
	if len(list.Modules) != 1 || list.Modules[0].Source != "acme/net/aws" {
		t.Fatalf("versions = %q, want one module", r.body)
	}
	var names []string
	for _, v := range list.Modules[0].Versions {
		names = append(names, v.Version)
	}
	return names
}

func TestVersions(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(twoVersions), modtest.Options{Archives: true})
	want := []string{"1.2.0-beta.1", "1.2.0", "1.10.0"}
	if diff := cmp.Diff(want, versions(t, world)); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	for _, path := range []string{
		"/v1/modules/acme/net/gcp/versions",
		netAWS + "1.3.0/download",
		netAWS + "v1.2.0/download",
		"/packages/acme/net/aws/1.3.0.tar.gz",
		"/packages/acme/net/aws/1.2.0",
	} {
		if r := get(t, world, path); r.status != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, r.status)
		}
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	const packed = "/packages/acme/net/aws/1.2.0.tar.gz"
	const commit = "git::https://HOST/git/registry/acme/net/aws.git?ref=COMMIT"
	for _, test := range []struct {
		name   string
		opts   modtest.Options
		status int
		header string
		body   string
	}{
		{"git", modtest.Options{}, 200, commit, `{"location":"` + commit + `"}`},
		{"git by header", modtest.Options{HeaderLocations: true}, 204, commit, ""},
		{"archives", modtest.Options{Archives: true}, 200, packed, `{"location":"` + packed + `"}`},
		{"archives by header", modtest.Options{Archives: true, HeaderLocations: true}, 204, packed, ""},
		{"hosted", modtest.Options{Hosted: true}, 200, "", `{"location":"` + packed + `","use_registry_credentials":true}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(twoVersions), test.opts)
			id := ""
			if strings.HasPrefix(test.name, "git") {
				var err error
				if id, err = world.Commit("registry/acme/net/aws.git", "v1.2.0"); err != nil {
					t.Fatal(err)
				}
			}
			fill := strings.NewReplacer("HOST", string(world.Host()), "COMMIT", id)
			r := get(t, world, netAWS+"1.2.0/download")
			if r.status != test.status {
				t.Errorf("status = %d, want %d", r.status, test.status)
			}
			if got, want := r.header.Get("X-Terraform-Get"), fill.Replace(test.header); got != want {
				t.Errorf("X-Terraform-Get = %q, want %q", got, want)
			}
			if got, want := strings.TrimSpace(r.body), fill.Replace(test.body); got != want {
				t.Errorf("body = %q, want %q", got, want)
			}
		})
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	const hosted, archives = true, false
	for _, test := range []struct {
		path    string
		hosted  bool
		without int // the status without the token
	}{
		{"/.well-known/terraform.json", archives, 200},
		{"/.well-known/terraform.json", hosted, 200},
		{netAWS + "versions", archives, 401},
		{netAWS + "1.2.0/download", archives, 401},
		{"/v1/providers/acme/cloud/versions", archives, 401},
		{"/v1/providers/acme/cloud/1.0.0/download/linux/amd64", archives, 401},
		{"/packages/acme/net/aws/1.2.0.tar.gz", archives, 200},
		{"/packages/acme/net/aws/1.2.0.tar.gz", hosted, 401},
	} {
		t.Run(fmt.Sprintf("%s hosted=%v", test.path, test.hosted), func(t *testing.T) {
			t.Parallel()
			opts := modtest.Options{Token: "s3cret", Archives: !test.hosted, Hosted: test.hosted}
			world := modtest.NewWith(t, modtest.Txtar(twoVersions+twoProviders), opts)
			if r := get(t, world, test.path); r.status != test.without {
				t.Errorf("without a token = %d, want %d", r.status, test.without)
			}
			if r := get(t, world, test.path, "Authorization", "Bearer other"); r.status != test.without {
				t.Errorf("with a wrong token = %d, want %d", r.status, test.without)
			}
			if r := get(t, world, test.path, "Authorization", "Bearer s3cret"); r.status != http.StatusOK {
				t.Errorf("with the token = %d, want 200", r.status)
			}
		})
	}
}

func TestPublishVersion(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]modtest.Options{"git": {}, "archives": {Archives: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := modtest.NewWith(t, modtest.Txtar(twoVersions), opts)
			before := packageOf(t, world, "1.2.0")
			for _, v := range []string{"1.3.0", "1.2.0"} {
				testenv.Must(t, world.PublishVersion("acme/net/aws", v, modtest.Txtar("-- main.tf --\n# new\n")))
			}
			testenv.Must(t, world.WithdrawVersion("acme/net/aws", "1.10.0"))
			want := []string{"1.2.0-beta.1", "1.2.0", "1.3.0"}
			if diff := cmp.Diff(want, versions(t, world)); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
			if packageOf(t, world, "1.2.0") == before {
				t.Errorf("the package of 1.2.0 is still %q", before)
			}
		})
	}
}

// packageOf returns the location of a package and its content. If the package changes, at least
// one of them changes.
func packageOf(t *testing.T, world *modtest.World, version string) string {
	t.Helper()
	location := get(t, world, netAWS+version+"/download").header.Get("X-Terraform-Get")
	if strings.HasPrefix(location, "/") {
		return get(t, world, location).body
	}
	return location
}

func TestPublishErrors(t *testing.T) {
	t.Parallel()
	testenv.Program(t, "git")
	world := modtest.New(t, modtest.Txtar(twoTags))
	files := modtest.Txtar("-- main.tf --\n")
	for name, err := range map[string]error{
		`publish "v1.0.0" of "acme/net/aws"`: world.PublishVersion("acme/net/aws", "v1.0.0", files),
		"short version":                      world.PublishVersion("acme/net/aws", "1.0", files),
		"short package":                      world.PublishVersion("acme/net", "1.0.0", files),
		"no version":                         world.WithdrawVersion("acme/net/aws", "9.0.0"),
		"no repository":                      world.MoveTag("none.git", "v1.0.0", files),
		"no tag":                             world.MoveTag("net.git", "v9.0.0", files),
		"no such tag":                        world.DeleteTag("net.git", "v9.0.0"),
		"no one":                             world.ReplaceRepository("none.git", "v1.0.0", files),
		"bad new tag":                        world.ReplaceRepository("net.git", "a..b", files),
		"head":                               world.PublishTag("net.git", "_HEAD", files),
		"bad tag":                            world.PublishTag("net.git", "a..b", files),
		"bad repository":                     world.PublishTag("../net.git", "v1.0.0", files),
		"no ending":                          world.PublishTag("net", "v1.0.0", files),
		"nested":                             world.PublishTag("net.git/in.git", "v1.0.0", files),
		`publish "net.rar"`:                  world.PublishArchive("net.rar", files),
		"bad files":                          world.PublishTag("net.git", "v1.0.0", modtest.Txtar("-- ../x --\n")),
	} {
		var carrier *modtest.PublishError
		if !errors.As(err, &carrier) {
			t.Errorf("%s: error = %v, want a PublishError", name, err)
		} else if strings.HasPrefix(name, "publish ") && !strings.HasPrefix(err.Error(), "modtest: "+name+": ") {
			t.Errorf("error = %q, want one about %s", err, name)
		}
		if missing := strings.HasPrefix(name, "no ") && name != "no ending"; errors.Is(err, fs.ErrNotExist) != missing {
			t.Errorf("%s: errors.Is(%v, fs.ErrNotExist) = %v, want %v", name, err, !missing, missing)
		}
	}
}
