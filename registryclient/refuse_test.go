package registryclient_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
)

func TestRefusedLocations(t *testing.T) {
	t.Parallel()
	for _, location := range []string{
		"acme/other/aws",
		"registry.example.com/acme/other/aws",
		"acme/net/aws//sub",
		"file:///etc/passwd",
		"FILE:///etc/passwd",
		"file::/etc/passwd",
		"http://example.com/x.zip",
		"http://127.0.0.1/x.zip",
		"http://localhost/x.zip",
		"https://127.0.0.1/x.zip",
		"https://localhost/x.zip",
		"https://169.254.169.254/x.zip",
		"https://[fd00:ec2::254]/x.zip",
		"https://2130706433/x.zip",
		"git::https://0.0.0.0/net.git",
		"git::ssh://git@127.0.0.1/net.git",
		"oci://localhost/net",
		"git::http://git.example.com/net.git",
		"git::http://127.0.0.1/net.git",
		"git::file:///srv/net.git",
		"git::/srv/net.git",
		"git::git://git.example.com/net.git",
		"git::git::https://git.example.com/net.git",
		"git::ext::sh -c id",
		"git::ext::sh",
		"git::fd::17",
		"git::s3::https://x.example.com/y",
		"git::git+ssh://git.example.com/net.git",
		"git::ssh:///net.git",
		"git::https:///net.git",
		"git::https:net.git",
		"GIT::https://git.example.com/net.git",
		"git://git.example.com/net.git",
		"ssh://git@git.example.com/net.git",
		"hg::https://hg.example.com/net",
		"s3::http://minio.example.com/bucket/x.zip",
		"s3::https://127.0.0.1:9000/bucket/x.zip",
		"s3::https://169.254.169.254/bucket/x.zip",
		"https::https://example.com/x.zip",
		"oci::https://example.com/x",
		"oci:///x",
		"oci:x",
		"https:///x.zip",
		"ftp://example.com/x.zip",
		"javascript:alert(1)",
	} {
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

// TestUnknownLocations has locations that are not valid addresses, or that point outside of
// their package.
func TestUnknownLocations(t *testing.T) {
	t.Parallel()
	for _, location := range []string{
		"x.zip", " https://example.com/x.zip", "https://example.com/x\n.zip", "\x00", "%66ile:///etc/passwd",
		"https://example.com/x.zip//../y", ".", "..", "git::", "ext::sh", "C:x",
		"s3::https:///bucket/x.zip", "s3::ssh://s3.amazonaws.com/bucket/x.zip", "s3::https://x.ec2.amazonaws.com/bucket/x.zip",
		"gcs::http://127.0.0.1/storage/v1/bucket/x.zip",
	} {
		found, err := client(serve(t, text(at(location)))).PackageLocation(t.Context(), pkg, one)
		if !errors.Is(err, registryclient.ErrInvalidAnswer) && !errors.Is(err, registryclient.ErrRefusedLocation) {
			t.Errorf("%q: PackageLocation = %+v, %v, want an error", location, found, err)
			continue
		}
		webtest.CheckText(t, err.Error())
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
