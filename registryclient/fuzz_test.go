package registryclient_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

func fixed(header, body string) *registryclient.Client {
	return &registryclient.Client{Services: services{base: base}, HTTPClient: webtest.Fixed(http.Header{"X-Terraform-Get": {header}}, body)}
}

func checkError(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*registryclient.RequestError](err); !ok {
		t.Errorf("the error is %v, want *RequestError", err)
	}
	webtest.CheckText(t, err.Error())
}

func FuzzModuleVersions(f *testing.F) {
	for _, seed := range []string{
		`{"modules":[{"versions":[{"version":"1.0.0"},{"version":"v1.0.0"}]}]}`, `{"modules":[{"versions":[{"version":1}]}]}`,
		`{"modules":[{}]}`, `{"modules":[]}`, `{"modules":[null]}`, `[]`, ``, `{"Modules":[{"VERSIONS":[{"version":"1-a+b"}]}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		found, err := fixed("", body).ModuleVersions(t.Context(), pkg)
		if err != nil {
			checkError(t, err)
			return
		}
		seen := make(map[versions.Version]bool)
		for _, c := range found {
			if c.Version.IsZero() || seen[c.Version] || c.Version != versions.MustParse(c.Ref) {
				t.Errorf("candidate %+v", c)
			}
			seen[c.Version] = true
		}
	})
}

func FuzzPackageLocation(f *testing.F) {
	for _, location := range []string{
		"https://example.com/x.zip//sub", "https://example.com/x.zip///sub", "https://example.com///", "./x", "//h", "git::ssh://git@h/x", "git::file:///x", "acme/net/aws", "oci://h/x", "http://127.0.0.1", "",
	} {
		f.Add(location, "")
		f.Add("", at(location))
		f.Add(location, strings.Replace(at(location), "{", `{"use_registry_credentials": true, `, 1))
	}
	f.Fuzz(func(t *testing.T, header, body string) {
		found, err := fixed(header, body).PackageLocation(t.Context(), pkg, one)
		if err != nil {
			checkError(t, err)
			return
		}
		checkLocation(t, found)
	})
}

// checkLocation checks the rule in the package comment, with a different implementation.
func checkLocation(t *testing.T, found registryclient.Location) {
	t.Helper()
	text := strings.ToLower(found.Source.Package.String())
	ok := strings.HasPrefix(text, "https://") && !strings.HasPrefix(text, "https:///")
	for _, prefix := range []string{"git::https://", "git::ssh://", "oci://"} {
		ok = ok || !found.Direct && strings.HasPrefix(text, prefix) && !strings.HasPrefix(text, prefix+"/")
	}
	if !ok {
		t.Errorf("the location %q passed", found.Source)
	}
	located, err := addrs.ModuleSourceRegistry{Package: pkg}.Located(found.Source)
	if err != nil {
		t.Errorf("Located: %v", err)
	}
	if located.Subdir == ".." || strings.HasPrefix(located.Subdir, "../") || strings.HasPrefix(located.Subdir, "/") {
		t.Errorf("the subdirectory %q passed", located.Subdir)
	}
}

func FuzzProviderVersions(f *testing.F) {
	for _, seed := range []string{
		`{"versions":[{"version":"1.0.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]}],"warnings":["x"]}`,
		`{"versions":[null,{"version":"1.0"},{"platforms":[null]}],"warnings":[null]}`, `{"versions":{}}`, `null`, `[]`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		found, err := fixed("", body).ProviderVersions(t.Context(), cloud)
		if err != nil {
			checkError(t, err)
			return
		}
		for _, v := range found.Versions {
			if v.Version.IsZero() {
				t.Errorf("version %+v", v)
			}
			v.Compatible()
		}
	})
}

func FuzzProviderPackage(f *testing.F) {
	good := `{"os":"linux","arch":"amd64","filename":"x.zip","download_url":"a","shasums_url":"/b","shasums_signature_url":"//c/d","shasum":"` + sum + `"`
	for _, seed := range []string{
		good + `}`, good + `,"protocols":["5.0",null]}`, good + `,"signing_keys":{"gpg_public_keys":[null,{"ascii_armor":"x"}]}}`, good + `,"signing_keys":null}`,
		good + `,"packages":{"linux_amd64":{"package_size":1e3,"hashes":["zh:` + sum + `"]},"a_b":null}}`, `null`, `[]`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		found, err := fixed("", body).ProviderPackage(t.Context(), cloud, one, linux)
		if err != nil {
			checkError(t, err)
			return
		}
		if _, err := hashing.ParseHash("zh:" + found.Sum); err != nil || found.Platform != linux || strings.ContainsAny(found.Filename, `/\`) {
			t.Errorf("package %+v", found)
		}
		for _, raw := range []string{found.URL, found.SumsURL, found.SignatureURL} {
			if u, err := url.Parse(raw); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				t.Errorf("the URL %q passed: %v", raw, err)
			}
		}
	})
}
