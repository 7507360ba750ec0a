package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

const registryHost = "registry.example.com"

// services is a discovery client whose results are fixed.
type services struct{}

func (services) ServiceURL(context.Context, addrs.Hostname, string) (*url.URL, error) {
	return url.Parse("https://" + registryHost + "/v1/")
}

func (services) Refused(context.Context, addrs.Hostname, *http.Request) bool { return false }

func (services) Authorize(context.Context, addrs.Hostname, *http.Request) error { return nil }

// always returns a client that always gets the same answer.
func always(body string) *http.Client {
	return &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		return answer(r, 200, http.Header{"Content-Type": {"application/json"}}, body), nil
	})}
}

func registry(body string) *registryclient.Client {
	return &registryclient.Client{Services: services{}, HTTPClient: always(body), Attempts: 1}
}

var module = addrs.ModuleRegistryPackage{Host: registryHost, Namespace: "acme", Name: "net", TargetSystem: "aws"}

// listing reads the versions of a module. A good listing has one version, and others have none.
func (r *reader) listing(c Case[string], _ bool) (bool, error) {
	found, err := registry(c.Input).ModuleVersions(context.Background(), module)
	if want, known := map[string]int{"version/none": 0, "version/good": 1}[c.Class]; known && len(found) != want {
		r.found = append(r.found, fmt.Sprintf("the versions are %v, want %d", found, want))
	}
	return false, err
}

// location reads a registry's answer with the location of a package.
func (r *reader) location(c Case[string], _ bool) (bool, error) {
	found, err := registry(fmt.Sprintf(`{"location":%s}`, quoteJSON(c.Input))).PackageLocation(context.Background(), module, versions.MustParse("1.0.0"))
	if err == nil {
		// The fetcher may refuse a location that the registry's client accepts.
		req := getmodules.Request{Package: found.Source.Package, Dir: r.dir(), FromServer: true, Origin: found.Origin}
		_, err := fetcher(nobody).Fetch(context.Background(), req)
		return false, unlessAsked(err)
	}
	if err != nil && !errors.Is(err, registryclient.ErrInvalidAnswer) && !errors.Is(err, registryclient.ErrRefusedLocation) {
		r.found = append(r.found, fmt.Sprintf("the error %v does not say why", err))
	}
	return false, err
}

// quoteJSON escapes everything that JSON can escape, so that the reader gets the unescaped text.
func quoteJSON(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < 0x20 || r == '"' || r == '\\' || r >= 0x7f && r < 0x10000 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func (r *reader) document(c Case[string], _ bool) (bool, error) {
	client := &disco.Client{HTTPClient: always(c.Input), Attempts: 1}
	_, err := client.ServiceURL(context.Background(), registryHost, "modules.v1")
	if err != nil && !errors.Is(err, disco.ErrInvalidAnswer) && !errors.Is(err, disco.ErrServiceNotProvided) && !errors.Is(err, disco.ErrVersionNotSupported) {
		r.found = append(r.found, fmt.Sprintf("the error %v does not say why", err))
	}
	if c.Class == "discovery/location" && !errors.Is(err, disco.ErrInvalidAnswer) {
		r.found = append(r.found, fmt.Sprintf("the error is %v, want ErrInvalidAnswer", err))
	}
	return false, err
}

func (r *reader) manifest(c Case[string], _ bool) (bool, error) {
	_, err := project.ParseManifest([]byte(c.Input))
	return false, err
}

// configuration reads a file next to a good one, whose call must be found.
func (r *reader) configuration(c Case[File], _ bool) (bool, error) {
	if err := os.Mkdir(r.dir(), 0o700); err != nil {
		return false, err
	}
	for name, text := range map[string]string{"good.tf": "module \"good\" {\n  source = \"./good\"\n}\n", c.Input.Name: c.Input.Text} {
		if err := os.WriteFile(filepath.Join(r.dir(), name), []byte(text), 0o600); err != nil {
			return false, err
		}
	}
	found, diags := configread.Reader{}.Read(context.Background(), configread.Dir{Path: r.dir(), Files: project.FilesIn(r.dir()), Display: "."})
	good := false
	for _, call := range found.Calls {
		good = good || call.Name == "good" && call.Source == "./good"
	}
	if !good {
		r.found = append(r.found, fmt.Sprintf("the good file's call is not among %v", found.Calls))
	}
	if diags.HasErrors() {
		return false, diags
	}
	return false, nil
}

// lock reads a lock file. An accepted file must be written unchanged.
func (r *reader) lock(c Case[string], _ bool) (bool, error) {
	file, err := lockfile.Parse([]byte(c.Input), ".terraform.lock.hcl")
	if err != nil {
		return false, err
	}
	if got := string(file.Bytes()); got != c.Input && c.Input != "" {
		r.found = append(r.found, fmt.Sprintf("unchanged it is written as %q", got))
	}
	return false, nil
}
