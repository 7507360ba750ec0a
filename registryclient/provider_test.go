package registryclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

const (
	providerVersionsPath = "/p1/acme/cloud/versions"
	providerPackagePath  = "/p1/acme/cloud/1.0.0/download/linux/amd64"
	sum                  = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

var (
	cloud = addrs.Provider{Hostname: "example.com", Namespace: "acme", Type: "cloud"}
	linux = addrs.Platform{OS: "linux", Arch: "amd64"}
	mac   = addrs.Platform{OS: "darwin", Arch: "arm64"}
)

var byText = cmp.Transformer("text", versions.Version.String)

func TestProviderVersions(t *testing.T) {
	t.Parallel()
	v := func(version string, protocols []string, platforms ...addrs.Platform) registryclient.ProviderVersion {
		return registryclient.ProviderVersion{Version: versions.MustParse(version), Protocols: protocols, Platforms: platforms}
	}
	type listing = []registryclient.ProviderVersion
	tests := map[string]struct {
		body     string
		want     listing
		warnings []string
	}{
		"full": {`{"versions":[{"version":"2.0.0","protocols":["4.0","5.1"],"platforms":[{"os":"linux","arch":"amd64"},{"os":"darwin","arch":"arm64"}]}]}`,
			listing{v("2.0.0", []string{"4.0", "5.1"}, linux, mac)}, nil},
		"order kept":          {`{"versions":[{"version":"1.0.0"},{"version":"3.0.0"},{"version":"2.0.0"}]}`, listing{v("1.0.0", nil), v("3.0.0", nil), v("2.0.0", nil)}, nil},
		"short":               {`{"versions":[{"version":"1.0"},{"version":"2"}]}`, listing{{Version: versions.MustParse("1.0.0"), Listed: "1.0"}, {Version: versions.MustParse("2.0.0"), Listed: "2"}}, nil},
		"listed twice":        {`{"versions":[{"version":"1.0.0","protocols":["5.0"]},{"version":"1.0"}]}`, listing{v("1.0.0", []string{"5.0"})}, nil},
		"metadata is no copy": {`{"versions":[{"version":"1.0.0+a"},{"version":"1.0.0+b"}]}`, listing{v("1.0.0+a", nil), v("1.0.0+b", nil)}, nil},
		"not versions":        {`{"versions":[{"version":"latest"},{"version":"v1.0.0"},{"version":"1.2.3.4"},{"version":"1.2.3beta1"},{},null,{"version":"1.0.0-rc.1"}]}`, listing{v("1.0.0-rc.1", nil)}, nil},
		"null lists":          {`{"versions":[{"version":"1.0.0","protocols":null,"platforms":[null,{"os":"linux"},{"os":"../x","arch":"amd64"}]}],"warnings":null}`, listing{v("1.0.0", nil)}, nil},
		"odd protocols":       {`{"versions":[{"version":"1.0.0","protocols":["abc","6","","5.0.1"]}]}`, listing{v("1.0.0", []string{"6"})}, nil},
		"empty":               {`{"versions":[]}`, nil, nil},
		"null versions":       {`{"versions":null}`, nil, nil},
		"warnings":            {`{"versions":[],"warnings":["moved to acme/other"," ","\u001b[2Jx"]}`, nil, []string{"moved to acme/other", `\x1b[2Jx`}},
		"more than versions":  {`{"id":"acme/cloud","x":[],"versions":[{"version":"1.0.0","y":7}]}`, listing{v("1.0.0", nil)}, nil},
	}
	for name, test := range tests {
		web := serve(t, text(test.body))
		found, err := client(web).ProviderVersions(t.Context(), cloud)
		want := registryclient.ProviderListing{Versions: test.want, Warnings: test.warnings}
		if diff := cmp.Diff(want, found, byText); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if got := web.Requests()[0].URL.String(); got != origin+providerVersionsPath {
			t.Errorf("%s: asked for %q", name, got)
		}
	}
}

func TestCompatible(t *testing.T) {
	t.Parallel()
	for protocols, want := range map[string]bool{
		"": true, "5.0": true, "6.9": true, "4.0 5.1": true, "6": true, "4.0": false, "7.0": false, "4.0 7.1": false, "50.0": false,
	} {
		v := registryclient.ProviderVersion{Protocols: strings.Fields(protocols)}
		if got := v.Compatible(); got != want {
			t.Errorf("protocols %q: Compatible = %v, want %v", protocols, got, want)
		}
	}
}

// answerWith returns a valid answer about a package, with changes to some properties. The value
// nil removes a property.
func answerWith(t *testing.T, changes map[string]any) string {
	t.Helper()
	body := map[string]any{
		"protocols": []string{"5.0"}, "os": "linux", "arch": "amd64", "filename": "terraform-provider-cloud_1.0.0_linux_amd64.zip",
		"download_url": "https://cdn.example.com/a.zip", "shasum": sum, "shasums_url": "https://cdn.example.com/sums", "shasums_signature_url": "https://cdn.example.com/sums.sig",
		"signing_keys": map[string]any{"gpg_public_keys": []any{map[string]any{"key_id": "AB", "ascii_armor": "armor"}}},
	}
	for name, value := range changes {
		body[name] = value
		if value == nil {
			delete(body, name)
		}
	}
	data, err := json.Marshal(body)
	testenv.Must(t, err)
	return string(data)
}

func with(name string, value any) map[string]any { return map[string]any{name: value} }

func goodPackage() registryclient.ProviderPackage {
	return registryclient.ProviderPackage{
		Provider: cloud, Version: one, Platform: linux, Protocols: []string{"5.0"},
		Filename: "terraform-provider-cloud_1.0.0_linux_amd64.zip", Sum: sum,
		URL: "https://cdn.example.com/a.zip", SumsURL: "https://cdn.example.com/sums", SignatureURL: "https://cdn.example.com/sums.sig",
		Keys: []registryclient.SigningKey{{ID: "AB", Armor: "armor"}},
	}
}

func TestProviderPackage(t *testing.T) {
	t.Parallel()
	type pkg = registryclient.ProviderPackage
	const endpoint = origin + "/p1/acme/cloud/1.0.0/download/linux/"
	keys := func(list ...any) map[string]any {
		return with("signing_keys", map[string]any{"gpg_public_keys": list})
	}
	h1 := "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
	tests := map[string]struct {
		changes map[string]any
		want    func(*pkg)
	}{
		"plain":             {nil, func(*pkg) {}},
		"no protocols":      {with("protocols", nil), func(p *pkg) { p.Protocols = nil }},
		"empty protocols":   {with("protocols", []string{}), func(p *pkg) { p.Protocols = []string{} }},
		"4 and 5":           {with("protocols", []string{"4.0", "5.1"}), func(p *pkg) { p.Protocols = []string{"4.0", "5.1"} }},
		"6.9":               {with("protocols", []string{"6.9"}), func(p *pkg) { p.Protocols = []string{"6.9"} }},
		"upper-case sum":    {with("shasum", strings.ToUpper(sum)), func(*pkg) {}},
		"relative URL":      {with("download_url", "a.zip"), func(p *pkg) { p.URL = endpoint + "a.zip" }},
		"absolute path":     {with("shasums_url", "/sums?x=1"), func(p *pkg) { p.SumsURL = origin + "/sums?x=1" }},
		"other host":        {with("shasums_signature_url", "//cdn.example.org/s"), func(p *pkg) { p.SignatureURL = "https://cdn.example.org/s" }},
		"userinfo":          {with("download_url", "https://u:p@cdn.example.com/a.zip"), func(p *pkg) { p.URL = "https://u:p@cdn.example.com/a.zip" }},
		"null key":          {keys(nil, map[string]any{"ascii_armor": "x"}), func(p *pkg) { p.Keys = []registryclient.SigningKey{{Armor: "x"}} }},
		"only a null key":   {keys(nil), func(p *pkg) { p.Keys = nil }},
		"key without armor": {keys(map[string]any{"key_id": "AB"}), func(p *pkg) { p.Keys = nil }},
		"all about a key": {keys(map[string]any{"key_id": "AB", "ascii_armor": "x", "trust_signature": "t", "source": "Acme", "source_url": "https://acme.example"}),
			func(p *pkg) {
				p.Keys = []registryclient.SigningKey{{ID: "AB", Armor: "x", TrustSignature: "t", Source: "Acme", SourceURL: "https://acme.example"}}
			}},
		"odd about a key": {keys(map[string]any{"key_id": "AB", "ascii_armor": "armor", "trust_signature": 1, "source": []int{}, "source_url": nil}), func(*pkg) {}},
		"no keys":         {with("signing_keys", nil), func(p *pkg) { p.Keys = nil }},
		"empty packages":  {with("packages", map[string]any{}), func(*pkg) {}},
		"packages": {with("packages", map[string]any{
			"linux_amd64":  map[string]any{"package_size": 7, "hashes": []string{"zh:" + sum, h1, "h9:x", "h1:no"}},
			"darwin_arm64": map[string]any{"hashes": nil},
			"windows_386":  nil,
		}), func(p *pkg) {
			p.Packages = map[addrs.Platform]registryclient.ReportedPackage{
				linux: {Size: 7, Hashes: []string{"zh:" + sum, h1}}, mac: {}, {OS: "windows", Arch: "386"}: {},
			}
		}},
	}
	for name, test := range tests {
		web := serve(t, text(answerWith(t, test.changes)))
		found, err := client(web).ProviderPackage(t.Context(), cloud, one, linux)
		want := goodPackage()
		test.want(&want)
		if diff := cmp.Diff(want, found, byText); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if got := web.Requests()[0].URL.String(); got != origin+providerPackagePath {
			t.Errorf("%s: asked for %q", name, got)
		}
	}
}

func TestInvalidProviderPackages(t *testing.T) {
	t.Parallel()
	packages := func(entries map[string]any) map[string]any { return with("packages", entries) }
	own := map[string]any{"package_size": 7, "hashes": []string{"zh:" + sum}}
	tests := map[string]struct {
		changes map[string]any
		want    error
	}{
		"other os":               {with("os", "darwin"), registryclient.ErrInvalidAnswer},
		"no os":                  {with("os", nil), registryclient.ErrInvalidAnswer},
		"no arch":                {with("arch", nil), registryclient.ErrInvalidAnswer},
		"os as number":           {with("os", 1), registryclient.ErrInvalidAnswer},
		"protocol abc":           {with("protocols", []string{"5.0", "abc"}), registryclient.ErrInvalidAnswer},
		"no filename":            {with("filename", nil), registryclient.ErrInvalidAnswer},
		"path as filename":       {with("filename", "../x.zip"), registryclient.ErrInvalidAnswer},
		"long filename":          {with("filename", strings.Repeat("x", 256)), registryclient.ErrInvalidAnswer},
		"no sum":                 {with("shasum", nil), registryclient.ErrInvalidAnswer},
		"short sum":              {with("shasum", sum[1:]), registryclient.ErrInvalidAnswer},
		"sum is not hex":         {with("shasum", "g"+sum[1:]), registryclient.ErrInvalidAnswer},
		"no download_url":        {with("download_url", nil), registryclient.ErrInvalidAnswer},
		"no shasums_url":         {with("shasums_url", ""), registryclient.ErrInvalidAnswer},
		"no signature URL":       {with("shasums_signature_url", nil), registryclient.ErrInvalidAnswer},
		"long URL":               {with("download_url", "/"+strings.Repeat("x", 8<<10)), registryclient.ErrInvalidAnswer},
		"malformed URL":          {with("download_url", "/%zz"), registryclient.ErrInvalidAnswer},
		"file":                   {with("download_url", "file:///etc/passwd"), registryclient.ErrRefusedLocation},
		"archive by http":        {with("download_url", "http://cdn.example.com/a.zip"), registryclient.ErrRefusedLocation},
		"sums by http":           {with("shasums_url", "http://cdn.example.com/sums"), registryclient.ErrRefusedLocation},
		"signature by http":      {with("shasums_signature_url", "http://cdn.example.com/sums.sig"), registryclient.ErrRefusedLocation},
		"own host by http":       {with("download_url", "http://registry.example.com/a.zip"), registryclient.ErrRefusedLocation},
		"ftp":                    {with("shasums_url", "ftp://example.com/x"), registryclient.ErrRefusedLocation},
		"this machine":           {with("download_url", "https://localhost/x"), registryclient.ErrRefusedLocation},
		"metadata service":       {with("shasums_signature_url", "http://169.254.169.254/x"), registryclient.ErrRefusedLocation},
		"no host":                {with("download_url", "https:///x"), registryclient.ErrRefusedLocation},
		"packages without own":   {packages(map[string]any{"darwin_arm64": own}), registryclient.ErrInvalidAnswer},
		"packages, bad platform": {packages(map[string]any{"linux_amd64": own, "linux": own}), registryclient.ErrInvalidAnswer},
		"packages, other sum":    {packages(map[string]any{"linux_amd64": map[string]any{"hashes": []string{"zh:" + strings.Repeat("0", 64)}}}), registryclient.ErrInvalidAnswer},
		"packages, no zh":        {packages(map[string]any{"linux_amd64": map[string]any{"package_size": 7}}), registryclient.ErrInvalidAnswer},
		"packages, bad size":     {packages(map[string]any{"linux_amd64": map[string]any{"package_size": -1, "hashes": []string{"zh:" + sum}}}), registryclient.ErrInvalidAnswer},
	}
	for name, test := range tests {
		_, err := client(serve(t, text(answerWith(t, test.changes)))).ProviderPackage(t.Context(), cloud, one, linux)
		e, ok := errors.AsType[*registryclient.RequestError](err)
		if !ok || !errors.Is(err, test.want) || e.StatusCode != http.StatusOK || e.Provider != cloud || e.Version != one || e.Platform != linux {
			t.Errorf("%s: ProviderPackage = %v, want %v", name, err, test.want)
		}
	}
	for _, protocol := range []string{"4.0", "7.0"} {
		_, err := client(serve(t, text(answerWith(t, with("protocols", []string{protocol}))))).ProviderPackage(t.Context(), cloud, one, linux)
		if e, ok := errors.AsType[*registryclient.ProtocolError](err); !ok || !slices.Equal(e.Protocols, []string{protocol}) {
			t.Errorf("protocol %s: ProviderPackage = %v, want *ProtocolError", protocol, err)
		}
	}
}

// TestReportsAreCounted counts for a run what it keeps in memory of the reports of packages: a sixth one exceeds its limit.
func TestReportsAreCounted(t *testing.T) {
	t.Parallel()
	hashes := []string{"zh:" + sum}
	for i := range 90_000 {
		hashes = append(hashes, fmt.Sprintf("zh:%064x", i))
	}
	key := map[string]any{"key_id": "A", "ascii_armor": strings.Repeat("x", 90_000*64)}
	for name, change := range map[string]map[string]any{
		"hashes of all platforms": with("packages", map[string]any{"linux_amd64": map[string]any{"hashes": hashes}}),
		"keys":                    with("signing_keys", map[string]any{"gpg_public_keys": []any{key}}),
		"protocols":               with("protocols", slices.Repeat([]string{"5.0"}, 90_000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := client(serve(t, text(answerWith(t, change))))
			testenv.LastExceedsRun(t, 6, func(ctx context.Context, i int) error {
				_, err := c.ProviderPackage(ctx, cloud, versions.MustParse(fmt.Sprintf("1.0.%d", i)), linux)
				return err
			})
		})
	}
}

// A registry on this machine may point to plain http on this machine, and nowhere else.
func TestProviderPackageOnThisMachine(t *testing.T) {
	t.Parallel()
	for at, allowed := range map[string]bool{
		"http://127.0.0.1:9000/a.zip": true, "http://localhost:9000/a.zip": true, "a.zip": true, "https://cdn.example.com/a.zip": true,
		"http://cdn.example.com/a.zip": false, "http://169.254.169.254/a.zip": false,
	} {
		web := webtest.New(t)
		web.Serve("http://127.0.0.1:8000", text(answerWith(t, with("download_url", at))))
		c := client(web)
		c.Services = services{providers: "http://127.0.0.1:8000/p1/"}
		if _, err := c.ProviderPackage(t.Context(), cloud, one, linux); (err == nil) != allowed || !allowed && !errors.Is(err, registryclient.ErrRefusedLocation) {
			t.Errorf("%s: ProviderPackage = %v", at, err)
		}
	}
}

func TestProviderPackageAfterRedirect(t *testing.T) {
	t.Parallel()
	web := serve(t, redirectTo("https://www.example.com/moved/here", 302))
	web.Serve("https://www.example.com", text(answerWith(t, with("download_url", "a.zip"))))
	c := client(web)
	c.Services = services{base: base, token: webtest.Canary}
	found, err := c.ProviderPackage(t.Context(), cloud, one, linux)
	if err != nil || found.URL != "https://www.example.com/moved/a.zip" {
		t.Errorf("ProviderPackage = %+v, %v, want a URL relative to that of the answer", found, err)
	}
	web.CheckSecrecy(origin)
}

func TestHostWithoutProviders(t *testing.T) {
	t.Parallel()
	lacks := errors.New("the host does not offer the service")
	c := client(webtest.New(t))
	c.Services = noProviders{err: lacks}
	_, err := c.ProviderVersions(t.Context(), cloud)
	e, ok := errors.AsType[*registryclient.RequestError](err)
	if !ok || !errors.Is(err, lacks) || e.Provider != cloud || e.URL != "" {
		t.Errorf("ProviderVersions = %v, want the error of Services", err)
	}
}

func TestProviderRenamed(t *testing.T) {
	t.Parallel()
	old := addrs.Provider{Hostname: "example.com", Namespace: "hashicorp", Type: "cloud"}
	for body, want := range map[string]string{
		`{"id":"hashicorp/cloud","moved_to":"acme/newcloud","versions":[]}`: "example.com/acme/newcloud",
		`{"id":"acme/cloud"}`:                  "example.com/acme/cloud",
		`{"id":"acme/cloud","moved_to":null}`:  "example.com/acme/cloud",
		`{"id":"hashicorp/cloud"}`:             "",
		`{"id":"-/cloud"}`:                     "",
		`{"moved_to":"https://evil.example/"}`: "",
		`{"moved_to":"acme/a\u001b[2J"}`:       "",
		`{}`:                                   "",
	} {
		web := serve(t, text(body))
		found, ok, err := client(web).ProviderRenamed(t.Context(), old)
		if ok != (want != "") || ok && found.String() != want || err != nil {
			t.Errorf("%s: ProviderRenamed = %v, %v, %v, want %q", body, found, ok, err, want)
		}
		if got := web.Requests()[0].URL.String(); got != origin+"/p1/-/cloud/versions" {
			t.Errorf("asked for %q", got)
		}
	}
	if _, ok, err := client(serve(t, answer(404, "", ""))).ProviderRenamed(t.Context(), old); ok || err != nil {
		t.Errorf("unknown: ProviderRenamed = %v, %v, want no suggestion and no error", ok, err)
	}
	if _, _, err := client(serve(t, answer(403, "", ""))).ProviderRenamed(t.Context(), old); !errors.Is(err, registryclient.ErrForbidden) {
		t.Errorf("forbidden: ProviderRenamed: %v", err)
	}
}
