package getmodules_test

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

func TestCheckLocation(t *testing.T) {
	t.Parallel()
	const remote, local = "https://registry.example.com", "http://127.0.0.1:8080"
	tests := []struct {
		pkg, origin string
		allowed     bool
	}{
		{"https://example.com/a.zip", remote, true},
		{"https::https://example.com/a.zip", remote, true},
		{"git::https://example.com/a.git?ref=v1", remote, true},
		{"git::ssh://git@example.com/a.git", remote, true},
		{"oci://example.com/a", remote, true},
		{"https://10.0.0.1/a.zip", remote, true},

		{"https://127.0.0.1/a.zip", remote, false},
		{"https://localhost/a.zip", remote, false},
		{"https://169.254.169.254/a.zip", remote, false},
		{"https://169.254.169.254/a.zip", local, false},
		{"https://2130706433/a.zip", remote, false},
		{"https://127.0.0.1/a.zip", local, true},
		{"https://127.0.0.1/a.zip", "::", false},
		{"git::ssh://git@[::1]/a.git", remote, false},
		{"oci://127.0.0.1:5000/a", remote, false},
		{"s3::https://169.254.169.254/b/k", remote, false},
		{"http://example.com/a.zip", remote, false},
		{"http://127.0.0.1/a.zip", remote, false},
		{"http://example.com/a.zip", local, false},
		{"http://localhost.example.com/a.zip", local, false},
		{"http://127.0.0.1/a.zip", local, true},
		{"http://localhost:99/a.zip", local, true},
		{"http://[::1]:99/a.zip", "https://localhost", true},
		{"git::http://127.0.0.1/a.git", local, true},
		{"git::http://127.0.0.1/a.git", remote, false},
		{"git::http://example.com/a.git", local, false},

		{"file:///etc", local, false},
		{"file://127.0.0.1/etc", local, false},
		{"file::/etc", local, false},
		{"git::file:///etc", local, false},
		{"git::/etc", local, false},
		{"git::git://127.0.0.1/a", local, false},
		{"git::ext::sh -c id", local, false},
		{"git://example.com/a", remote, false},
		{"ssh://git@example.com/a", remote, false},
		{"git::https:///a", remote, false},
		{"https:a.zip", remote, false},
		{"hg::https://example.com/a", remote, false},
		{"s3::https://s3.amazonaws.com/b/k", remote, true},
		{"s3::https://minio.example.com/b/k.zip?region=eu-west-1", remote, true},
		{"gcs::https://www.googleapis.com/storage/v1/b/k", remote, true},
		{"s3::http://127.0.0.1:9000/b/k.zip", local, true},
		{"s3::http://127.0.0.1:9000/b/k.zip", remote, false},
		{"s3::http://minio.example.com/b/k.zip", local, false},
		{"s3::http://minio.example.com/b/k.zip", remote, false},
		{"hg::http://127.0.0.1/a", local, false},
		{"demo::https://example.com/a", remote, false},
		{"oci::https://example.com/a", remote, false},
		{"https::oci://example.com/a", remote, false},
		{"http://127.0.0.1/a.zip", "", false},
		{"http://127.0.0.1/a.zip", "::", false},
	}
	for _, test := range tests {
		req := getmodules.Request{Package: addrs.ParseModulePackage(test.pkg), FromServer: true, Origin: test.origin}
		err := getmodules.CheckLocation(t.Context(), req)
		if test.allowed && err != nil || !test.allowed && !errors.Is(err, getmodules.ErrRefusedLocation) {
			t.Errorf("CheckLocation(%q from %q) = %v, want allowed: %v", test.pkg, test.origin, err, test.allowed)
		}
		if err := getmodules.CheckLocation(t.Context(), getmodules.Request{Package: req.Package}); err != nil {
			t.Errorf("CheckLocation(%q by the user) = %v, want nil", test.pkg, err)
		}
	}
}

func FuzzArchiveAddress(f *testing.F) {
	for _, seed := range []string{
		"https://h.com/x.zip", "https://u:p@h.com/x?archive=zip&token=t", "https://h.com/x.tar.gz?checksum=md5:0#f", "https://h.com/x?archive=zip;a=b", "file:///x.zip", "/x.zip", "file::/x", "https://h.com/?archive=%7a%69p", "https://h.com/x?%zz=1&archive", "http:0@0", "file:@", "file:/@", "http://:/@", "http://0:/@", "http://h.com:/a@b.zip",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		source, err := addrs.ParseModuleSource(address)
		remote, ok := source.(addrs.ModuleSourceRemote)
		if err != nil || !ok || !slices.Contains([]string{"file", "http", "https"}, remote.Package.Getter()) {
			return
		}
		asked, resolved, err := getmodules.ArchiveAddress(remote.Package)
		if err != nil {
			return
		}
		_, query, _ := strings.Cut(asked, "?")
		for arg := range strings.SplitSeq(query, "&") {
			if name, _, _ := strings.Cut(arg, "="); name == "archive" || name == "checksum" {
				t.Errorf("%q asks for %q", address, asked)
			}
		}
		if kept := addrs.ParseModulePackage(resolved); kept.WithoutCredentials() != kept {
			t.Errorf("%q is kept as %q", address, resolved)
		}
	})
}

// wire is a transport that records the URLs of requests as they would be sent, and answers none.
type wire struct {
	mu   sync.Mutex
	sent []*url.URL
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, req.URL)
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

// FuzzWire checks that what is sent for an address is what the policy judged: the host and the path
// are those of the location, and if the policy allows one repository and denies a directory of it,
// no way to read the sent path is outside of the former or inside of the latter.
func FuzzWire(f *testing.F) {
	for _, seed := range []string{
		"https://h.example/acme/x.zip", "https://h.example/evil/../acme/x.zip", "https://h.example/acme/..%2fevil/x.zip", "https://h.example/acme%2Fevil/x.zip",
		"git::https://h.example/acme/net.git?ref=v1", "git::https://u:p@h.example:443/acme/EVIL.git", "git::https://h.example/acme/evil;x", "git::https://h.example/acme/%2e%2e/evil",
		"https://h.example/acme/evil%20/x.zip", "https://H.example.:0443/%61cme/x?archive=zip", "https://h.example//acme/x.zip", "https://h.example/acme/evil%00/x.zip",
		"oci://h.example/acme/net?tag=1.0.0", "oci://h.example/acme/evil?tag=1.0.0", "https::https://h.example/acme/x.zip#f", "https://h.example/acme/..;/x.zip", "https://127.1/acme/x.zip",
		"https://h.example/acme/a%5c..%5cevil/x.zip", "https://h.example/acme/evil%2Fx.zip", "git::http://h.example/acme/%252e%252e/x", "http://h.example/acme/ /evil", "https://h.example/acme/%2520/evil", "https://h.example/acme/;x/evil", "https://h.example/acme/.git/evil", `http://h.eXAmple/acme/evil\`, "https://h.example/acme/evil%5cx.zip",
	} {
		f.Add(seed)
	}
	pattern := func(text string) []policy.Pattern {
		p, err := policy.ParsePattern(text)
		testenv.Must(f, err)
		return []policy.Pattern{p}
	}
	rules := policy.Policy{Allow: pattern("h.example/acme"), Deny: pattern("h.example/acme/evil")}
	f.Fuzz(func(t *testing.T, raw string) {
		source, err := addrs.ParseModuleSource(raw)
		remote, ok := source.(addrs.ModuleSourceRemote)
		if err != nil || !ok || remote.Package.Getter() == "file" {
			return
		}
		at, err := remote.Package.Location()
		if err != nil || at.URL().Scheme != "https" && at.URL().Scheme != "http" && at.URL().Scheme != "oci" {
			return
		}
		allowed := rules.CheckPackage(remote.Package) == nil
		var sent wire
		fetcher := &getmodules.Fetcher{HTTPClient: &http.Client{Transport: &sent}, GitBackend: getmodules.GitBuiltIn, Attempts: 1}
		if _, err := fetcher.Fetch(t.Context(), getmodules.Request{Package: remote.Package, Dir: newSandbox(t).dir}); err == nil {
			t.Errorf("%q was fetched from nowhere", raw)
		}
		for _, u := range sent.sent {
			got, err := addrs.LocationOf(u)
			if err != nil || got.Host() != at.Host() || !isBelow(at.Path(), got.Path()) {
				t.Errorf("%q is judged as %q %q, but %q is sent (%v)", raw, at.Host(), at.Path(), u, err)
			}
			once, twice := reading(u.EscapedPath(), 1), reading(u.EscapedPath(), 2)
			if allowed && (!strings.HasPrefix(once+"/", "/acme/") || !strings.HasPrefix(twice+"/", "/acme/")) && !strings.HasPrefix(once, "/v2/acme/") {
				t.Errorf("%q is allowed, but a server may read %q or %q", raw, once, twice)
			}
			if allowed && (strings.HasPrefix(once+"/", "/acme/evil/") || strings.HasPrefix(once, "/v2/acme/evil/")) {
				t.Errorf("%q is not denied, but a server may read %q", raw, once)
			}
		}
	})
}

// isBelow reports whether a requested path is the path of a location, or one that an API has below
// it.
func isBelow(location, requested []string) bool {
	if len(requested) > 0 && requested[0] == "v2" && (len(location) == 0 || location[0] != "v2") {
		requested = requested[1:]
	}
	return len(location) <= len(requested) && strings.Join(requested[:len(location)], "/") == strings.Join(location, "/")
}

// reading returns the path that a careless server may read: decoded several times, in lower case,
// without what some ignore at the end of an element.
func reading(escaped string, times int) string {
	for range times {
		if decoded, err := url.PathUnescape(escaped); err == nil {
			escaped = decoded
		}
	}
	elements := strings.Split(strings.ReplaceAll(escaped, `\`, "/"), "/")
	for i, element := range elements {
		element, _, _ = strings.Cut(element, ";")
		element = strings.TrimRight(strings.ToLower(element), " ")
		elements[i] = cmp.Or(strings.TrimSuffix(element, ".git"), element)
	}
	return path.Clean("/" + strings.Join(elements, "/"))
}
