package registryclient_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/hashing"
)

func FuzzProviderVersions(f *testing.F) {
	for _, seed := range []string{
		`{"versions":[{"version":"1.0.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]}],"warnings":["x"]}`,
		`{"versions":[null,{"version":"1.0"},{"platforms":[null]}],"warnings":[null]}`, `{"versions":{}}`, `null`, `[]`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		found, err := fixed{body: body}.client().ProviderVersions(t.Context(), cloud)
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
		found, err := fixed{body: body}.client().ProviderPackage(t.Context(), cloud, one, linux)
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
