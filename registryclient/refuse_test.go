package registryclient_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
)

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
