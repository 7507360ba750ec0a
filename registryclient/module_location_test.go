package registryclient_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

func remote(pkg, subdir string) addrs.ModuleSourceRemote {
	return addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(pkg), Subdir: subdir}
}

func TestWhereTheLocationStands(t *testing.T) {
	t.Parallel()
	const a, b = "https://example.com/a.zip", "https://example.com/b.zip"
	tests := map[string]struct {
		status       int
		header, body string
		want         string // "" means ErrInvalidAnswer
	}{
		"body":                      {200, "", at(a), a},
		"body before header":        {200, b, at(a), a},
		"empty object, header":      {200, b, `{}`, b},
		"empty location, header":    {200, b, at(""), b},
		"null location, header":     {200, b, `{"location":null}`, b},
		"empty body, header":        {200, b, "", b},
		"text, header":              {200, b, "OK", b},
		"HTML, header":              {200, b, "<html>", b},
		"other JSON, header":        {200, b, `["x"]`, b},
		"null, header":              {200, b, `null`, b},
		"204, header":               {204, b, "", b},
		"number, header":            {200, b, `{"location":1}`, ""},
		"nothing":                   {200, "", "", ""},
		"204, nothing":              {204, "", "", ""},
		"empty object":              {200, "", `{}`, ""},
		"text":                      {200, "", "OK", ""},
		"credentials as text":       {200, b, `{"location":"x.zip","use_registry_credentials":"yes"}`, ""},
		"two locations":             {200, b, `{"location":"` + a + `","location":"` + a + `"}`, ""},
		"locations in two cases":    {200, b, `{"Location":"` + a + `","location":"` + a + `"}`, ""},
		"one location, other case":  {200, "", `{"Location":"` + a + `"}`, a},
		"other keys twice":          {200, "", `{"x":1,"x":2,"location":"` + a + `"}`, a},
		"other keys twice, header":  {200, b, `{"x":1,"x":2}`, b},
		"long location":             {200, "", at(a + "?" + strings.Repeat("x", 8<<10)), ""},
		"long header":               {200, a + "?" + strings.Repeat("x", 8<<10), "", ""},
		"long body":                 {200, b, at(a) + strings.Repeat(" ", 1<<20), ""},
		"long hosted location":      {200, "", `{"use_registry_credentials":true,"location":"` + strings.Repeat("x", 9<<10) + `"}`, ""},
		"null credentials":          {200, "", `{"location":"` + a + `","use_registry_credentials":null}`, a},
		"many steps up":             {200, "", at(strings.Repeat("../", 2000) + "a.zip"), a},
		"malformed relative":        {200, "", at("/%zz"), ""},
		"malformed header location": {200, "https://[", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := client(serve(t, answer(test.status, test.header, test.body))).PackageLocation(t.Context(), pkg, one)
			if test.want == "" {
				if !errors.Is(err, registryclient.ErrInvalidAnswer) {
					t.Errorf("PackageLocation = %v, %v, want ErrInvalidAnswer", found, err)
				}
				return
			}
			want := registryclient.Location{Source: remote(test.want, ""), Origin: origin + locationPath}
			if diff := cmp.Diff(want, found); diff != "" || err != nil {
				t.Errorf("PackageLocation: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestIndirectLocations(t *testing.T) {
	t.Parallel()
	tests := map[string]addrs.ModuleSourceRemote{
		"s3::https://s3.amazonaws.com/bucket/x.zip":            remote("s3::https://s3.amazonaws.com/bucket/x.zip", ""),
		"s3::https://minio.example.com/bucket/x.zip//sub":      remote("s3::https://minio.example.com/bucket/x.zip", "sub"),
		"gcs::https://www.googleapis.com/storage/v1/b/x.zip":   remote("gcs::https://www.googleapis.com/storage/v1/b/x.zip", ""),
		"https://cdn.example.com/x.zip":                        remote("https://cdn.example.com/x.zip", ""),
		"https://cdn.example.com/x//sub?archive=zip":           remote("https://cdn.example.com/x?archive=zip", "sub"),
		"https://api.example.com/tarball/v1//*?archive=tar.gz": remote("https://api.example.com/tarball/v1?archive=tar.gz", "*"),
		"git::https://git.example.com/net.git?ref=v1":          remote("git::https://git.example.com/net.git?ref=v1", ""),
		"git::https://git.example.com/net.git//a/../b?ref=v1":  remote("git::https://git.example.com/net.git?ref=v1", "b"),
		"git::ssh://git@git.example.com/net.git":               remote("git::ssh://git@git.example.com/net.git", ""),
		"git@git.example.com:acme/net.git":                     remote("git::ssh://git@git.example.com/acme/net.git", ""),
		"github.com/acme/net":                                  remote("git::https://github.com/acme/net.git", ""),
		"oci://ghcr.example.com/acme/net?tag=1.0.0":            remote("oci://ghcr.example.com/acme/net?tag=1.0.0", ""),
		"/files/x.zip":              remote(origin+"/files/x.zip", ""),
		"./x.zip":                   remote(origin+"/v1/acme/net/aws/1.0.0/x.zip", ""),
		"../x.zip":                  remote(origin+"/v1/acme/net/aws/x.zip", ""),
		"../x.zip//sub?archive=zip": remote(origin+"/v1/acme/net/aws/x.zip?archive=zip", "sub"),
		"./x//*?archive=tar.gz":     remote(origin+"/v1/acme/net/aws/1.0.0/x?archive=tar.gz", "*"),
		"//cdn.example.com/x.zip":   remote("https://cdn.example.com/x.zip", ""),
		"/\\evil.example.com/x.zip": remote(origin+"/%5Cevil.example.com/x.zip", ""),
		"https://" + webtest.Canary + "@cdn.example.com/x.zip":    remote("https://"+webtest.Canary+"@cdn.example.com/x.zip", ""),
		"https://cdn.example.com/x.zip?X-Sig=" + webtest.Canary:   remote("https://cdn.example.com/x.zip?X-Sig="+webtest.Canary, ""),
		"HTTPS://cdn.example.com/x.zip":                           remote("HTTPS://cdn.example.com/x.zip", ""),
		"https://cdn.example.com/x.zip?archive=zip&checksum=md5:": remote("https://cdn.example.com/x.zip?archive=zip&checksum=md5:", ""),
	}
	for location, want := range tests {
		found, err := client(serve(t, text(at(location)))).PackageLocation(t.Context(), pkg, one)
		if err != nil {
			t.Errorf("%q: %v", location, err)
			continue
		}
		if diff := cmp.Diff(want, found.Source); diff != "" || found.Direct || found.UseCredentials {
			t.Errorf("%q: %+v (-want +got):\n%s", location, found, diff)
		}
	}
}

func TestHostedLocations(t *testing.T) {
	t.Parallel()
	const endpoint = origin + locationPath
	tests := map[string]string{
		"https://example.com/x.zip":     "https://example.com/x.zip",
		"https://cdn.example.com/x.zip": "https://cdn.example.com/x.zip",
		"x.zip":                         origin + "/v1/acme/net/aws/1.0.0/x.zip",
		"x//sub?archive=zip":            origin + "/v1/acme/net/aws/1.0.0/x//sub?archive=zip",
		"acme/net/aws":                  origin + "/v1/acme/net/aws/1.0.0/acme/net/aws",
		"/x.zip":                        origin + "/x.zip",
		"?a=b":                          endpoint + "?a=b",
		"":                              endpoint,
	}
	for location, want := range tests {
		for _, flag := range []string{"true", "false"} {
			body := strings.Replace(at(location), "{", `{"use_registry_credentials": `+flag+`, `, 1)
			found, err := client(serve(t, answer(200, "https://elsewhere.example.com", body))).PackageLocation(t.Context(), pkg, one)
			wanted := registryclient.Location{Source: remote(want, ""), Origin: endpoint, Direct: true, UseCredentials: flag == "true"}
			if diff := cmp.Diff(wanted, found); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
			}
		}
	}
}

func TestAnswersAreShared(t *testing.T) {
	t.Parallel()
	for name, ask := range calls {
		web := serve(t, text(good(t)))
		c := client(web)
		for i, c := range []*registryclient.Client{c, c, c, c.Fresh()} {
			if err := ask(t.Context(), c); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got, want := len(web.Requests()), 1+i/3; got != want {
				t.Errorf("%s: %d requests after question %d, want %d", name, got, i, want)
			}
		}
	}
}

func TestLocationsAreShared(t *testing.T) {
	t.Parallel()
	web := serve(t, text(at("./x.zip")))
	c := client(web)
	for _, v := range []string{"1.0.0", "v1.0", "1.0.0", "2.0.0"} {
		if _, err := c.PackageLocation(t.Context(), pkg, versions.MustParse(v)); err != nil {
			t.Error(err)
		}
	}
	if got := len(web.Requests()); got != 2 {
		t.Errorf("%d requests, want one for each of 2 versions", got)
	}
}

func TestRelativeToWhatWasAsked(t *testing.T) {
	t.Parallel()
	web := serve(t, redirectTo("https://www.example.com/moved/download?sig="+webtest.Canary, 302))
	web.Serve("https://www.example.com", text(at("./x.zip")))
	found, err := client(web).PackageLocation(t.Context(), pkg, one)
	want := registryclient.Location{
		Source: remote(origin+"/v1/acme/net/aws/1.0.0/x.zip", ""),
		Origin: "https://www.example.com/moved/download?sig=REDACTED",
	}
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("PackageLocation: %v (-want +got):\n%s", err, diff)
	}
}

func TestBodiesWithoutLocation(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                `neither a "location" nor the header X-Terraform-Get`,
		"{}":              `neither a "location" nor the header X-Terraform-Get`,
		"{":               "no location in its body: it is not valid JSON: unexpected end of JSON input",
		"<html>":          "no location in its body: it is not valid JSON: invalid character '<'",
		"[]":              `no location in its body: it is JSON of another type than expected: "array"`,
		`{"location": 7}`: `"location" is of the type "number"`,
	} {
		err := calls["location"](t.Context(), client(serve(t, text(body))))
		if !errors.Is(err, registryclient.ErrInvalidAnswer) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error is %v, want %q", body, err, want)
		}
	}
}

// TestRefusedLocations checks what the error says. Package internal/hostile has all kinds of locations.
func TestRefusedLocations(t *testing.T) {
	t.Parallel()
	for _, location := range []string{"acme/other/aws", "http://example.com/x.zip", "https://127.0.0.1/x.zip", "git::ext::sh -c id"} {
		_, err := client(serve(t, text(at(location)))).PackageLocation(t.Context(), pkg, one)
		if !errors.Is(err, registryclient.ErrRefusedLocation) {
			t.Errorf("%q: PackageLocation = %v, want ErrRefusedLocation", location, err)
			continue
		}
		webtest.CheckText(t, err.Error())
		if e, _ := errors.AsType[*registryclient.RequestError](err); e.Package != pkg || e.Version != one || e.StatusCode != 200 {
			t.Errorf("%q: %+v", location, e)
		}
	}
}

func TestRefusedHostedLocations(t *testing.T) {
	t.Parallel()
	for _, location := range []string{
		"http://example.com/x.zip", "http://127.0.0.1/x.zip", "file:///etc/passwd", "git::https://example.com/x",
		"https://example.com/x#part", "https://u:" + webtest.Canary + "@example.com/x.zip", "https:///x.zip", "s3://bucket/x", "mailto:x",
	} {
		body := strings.Replace(at(location), "{", `{"use_registry_credentials": true, `, 1)
		_, err := client(serve(t, text(body))).PackageLocation(t.Context(), pkg, one)
		if !errors.Is(err, registryclient.ErrRefusedLocation) {
			t.Errorf("%q: PackageLocation = %v, want ErrRefusedLocation", location, err)
			continue
		}
		webtest.CheckText(t, err.Error())
	}
}

// A name below localhost may point to this machine, but is resolved like others, so only by https.
func TestRegistryBelowLocalhost(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]error{"https://127.0.0.1/x.zip": nil, "http://127.0.0.1/x.zip": registryclient.ErrRefusedLocation} {
		web := webtest.New(t)
		web.Serve("https://registry.localhost", text(at(location)))
		c := client(web)
		c.Services = services{base: "https://registry.localhost/v1/"}
		if _, err := c.PackageLocation(t.Context(), pkg, one); !errors.Is(err, want) {
			t.Errorf("%q: PackageLocation = %v, want %v", location, err, want)
		}
	}
}

func TestRegistryOnLoopback(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]error{
		"./x.zip":                                 nil,
		"http://127.0.0.1:9000/x.zip":             nil,
		"http://localhost:9000/x.zip":             nil,
		"git::http://[::1]:9000/net.git":          nil,
		"git::https://127.0.0.1/net.git":          nil,
		"s3::http://127.0.0.1:9000/bucket/x.zip":  nil,
		"s3::http://example.com/bucket/x.zip":     registryclient.ErrRefusedLocation,
		"http://example.com/x.zip":                registryclient.ErrRefusedLocation,
		"git::http://example.com/net.git":         registryclient.ErrRefusedLocation,
		"git::file:///srv/net.git":                registryclient.ErrRefusedLocation,
		"http://127.0.0.1.example.com/x.zip":      registryclient.ErrRefusedLocation,
		"http://127.0.0.1:9000@example.com/x.zip": registryclient.ErrRefusedLocation,
	} {
		web := webtest.New(t)
		web.Serve("http://127.0.0.1:8000", text(at(location)))
		c := client(web)
		c.Services = services{base: "http://127.0.0.1:8000/v1/"}
		if _, err := c.PackageLocation(t.Context(), pkg, one); !errors.Is(err, want) {
			t.Errorf("%q: PackageLocation = %v, want %v", location, err, want)
		}
	}
}
