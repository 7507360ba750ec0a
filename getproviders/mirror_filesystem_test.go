package getproviders_test

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	testenv.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
}

func link(t testing.TB, dir, target, name string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	testenv.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	if err := os.Symlink(filepath.Join(dir, filepath.FromSlash(target)), path); err != nil {
		t.Skipf("no links here: %v", err)
	}
}

func received(t testing.TB, p getproviders.Package) (string, error) {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	testenv.Must(t, err)
	defer file.Close()
	if _, err := file.WriteString("something longer that was here before"); err != nil {
		t.Fatal(err)
	}
	last := int64(-1)
	if err := p.Download(t.Context(), file, func(done, _ int64) { last = done }); err != nil {
		return "", err
	}
	text, err := os.ReadFile(file.Name())
	testenv.Must(t, err)
	if last != int64(len(text)) {
		t.Errorf("the last progress is %d, want %d", last, len(text))
	}
	return string(text), nil
}

// TestFilesystemMirror has a directory with the rows of a table. The value of a row is the
// version and the platform of the package at that path, or "" if it is not a package.
func TestFilesystemMirror(t *testing.T) {
	t.Parallel()
	const x = "registry.opentofu.org/acme/x/"
	for name, want := range map[string]string{
		x + "terraform-provider-x_1.0.0_linux_amd64.zip":                        "1.0.0 linux_amd64",
		x + "TERRAFORM-provider-X_1.0.0_Linux_amd64.ZIP":                        "1.0.0 linux_amd64",
		x + "terraform-provider-x_1.0.0-rc.1+b_linux_amd64.zip":                 "1.0.0-rc.1+b linux_amd64",
		x + "terraform-provider-x_1.0_linux_amd64.zip":                          "1.0.0 linux_amd64",
		x + "terraform-provider-x_v1.0.0_linux_amd64.zip":                       "",
		x + "terraform-provider-x_1.0.0_linux.zip":                              "",
		x + "terraform-provider-y_1.0.0_linux_amd64.zip":                        "",
		x + "terraform-provider-x_1.0.0_linux_amd64.tar":                        "",
		x + "terraform-provider-x_1.0.0_linux_amd64.zip/file":                   "", // a directory
		x + "1.0.0/linux_amd64/terraform-provider-x":                            "1.0.0 linux_amd64 unpacked",
		x + "1.0.0/darwin_arm64/README":                                         "1.0.0 darwin_arm64 unpacked",
		x + "1.0/linux_amd64/terraform-provider-x":                              "1.0.0 linux_amd64 unpacked",
		x + "v1.0.0/linux_amd64/terraform-provider-x":                           "",
		x + "latest/linux_amd64/terraform-provider-x":                           "",
		x + "1.0.0/linux-amd64/terraform-provider-x":                            "",
		x + "1.0.0/linux_amd64":                                                 "", // a file
		x + "1.0.0/terraform-provider-x":                                        "",
		"REGISTRY.opentofu.org/ACME/X/1.0.0/linux_amd64/terraform-provider-x":   "1.0.0 linux_amd64 unpacked",
		"registry.terraform.io/acme/x/1.0.0/linux_amd64/terraform-provider-x":   "",
		"acme/x/1.0.0/linux_amd64/terraform-provider-x":                         "",
		"registry.opentofu.org/acme/x/y/1.0.0/linux_amd64/terraform-provider-x": "",
	} {
		dir := t.TempDir()
		write(t, dir, name, "content")
		mirror := getproviders.FilesystemMirror{Dir: dir}
		acme := provider(t, "acme/x")
		listing, err := mirror.Versions(t.Context(), acme)
		fields := strings.Fields(want)
		if want == "" {
			if !errors.Is(err, getproviders.ErrNotFound) {
				t.Errorf("%s: %v, %v, want ErrNotFound", name, shown(listing), err)
			}
			continue
		}
		if diff := cmp.Diff([]string{strings.TrimSuffix(want, " unpacked")}, shown(listing)); diff != "" {
			t.Errorf("%s: %v; versions (-want +got):\n%s", name, err, diff)
			continue
		}
		platform, _ := addrs.ParsePlatform(fields[1])
		p, err := mirror.Package(t.Context(), acme, versions.MustParse(fields[0]), platform)
		if err != nil {
			t.Errorf("%s: Package: %v", name, err)
			continue
		}
		if isUnpacked := p.Dir() != ""; isUnpacked != (len(fields) == 3) || (p.Archive() == "") != isUnpacked {
			t.Errorf("%s: the directory is %q, the hash of the archive %q", name, p.Dir(), p.Archive())
		}
		proof, err := p.Authenticate(t.Context())
		if diff := cmp.Diff(getproviders.Authentication{Evidence: evidence.Evidence{Kind: evidence.Mirror, By: "the mirror " + dir}}, proof); diff != "" || err != nil {
			t.Errorf("%s: Authenticate: %v; (-want +got):\n%s", name, err, diff)
		}
		text, err := received(t, p)
		if isPacked := len(fields) == 2; isPacked != (err == nil) || isPacked && text != "content" {
			t.Errorf("%s: received %q, %v", name, text, err)
		}
	}
}

func TestFilesystemMirrorChoice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	acme := provider(t, "bücher.example:8443/acme/x")
	const at = "bücher.example:8443/acme/x/"
	if runtime.GOOS == "windows" {
		t.Skip("no colons in names")
	}
	write(t, dir, at+"terraform-provider-x_1.0.0_linux_amd64.zip", "")
	write(t, dir, at+"1.0.0/linux_amd64/terraform-provider-x", "")
	write(t, dir, at+"2.0.0/darwin_arm64/terraform-provider-x", "")
	mirror := getproviders.FilesystemMirror{Dir: dir}
	p, err := mirror.Package(t.Context(), acme, versions.MustParse("1.0.0"), linux)
	if err != nil || p.Dir() != filepath.Join(dir, filepath.FromSlash(at+"1.0.0/linux_amd64")) {
		t.Errorf("Package = %v, %v, want the unpacked one", p, err)
	}
	for version, want := range map[string]error{"2.0.0": getproviders.ErrUnsupportedPlatform, "3.0.0": getproviders.ErrNotFound} {
		if _, err := mirror.Package(t.Context(), acme, versions.MustParse(version), linux); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", version, err, want)
		}
	}
	found, err := mirror.Providers(t.Context())
	if diff := cmp.Diff([]addrs.Provider{acme}, found); diff != "" || err != nil {
		t.Errorf("Providers: %v (-want +got):\n%s", err, diff)
	}
}

func TestFilesystemMirrorLinks(t *testing.T) {
	t.Parallel()
	const x = "registry.opentofu.org/acme/x"
	for name, test := range map[string]struct {
		target, link string
		ok           bool
	}{
		"the mirror":    {"real", "mirror", true},
		"a host":        {"real/registry.opentofu.org", "mirror/registry.opentofu.org", false},
		"a namespace":   {"real/registry.opentofu.org/acme", "mirror/registry.opentofu.org/acme", false},
		"a type":        {"real/" + x, "mirror/" + x, false},
		"a version":     {"real/" + x + "/1.0.0", "mirror/" + x + "/1.0.0", false},
		"a package":     {"real/" + x + "/1.0.0/linux_amd64", "mirror/" + x + "/1.0.0/linux_amd64", true},
		"an archive":    {"real/x.zip", "mirror/" + x + "/terraform-provider-x_1.0.0_linux_amd64.zip", true},
		"dangling":      {"real/none", "mirror/" + x + "/1.0.0/linux_amd64", false},
		"no such path":  {"real/none", "mirror", false},
		"another place": {"real", "elsewhere", false},
	} {
		dir := t.TempDir()
		write(t, dir, "real/"+x+"/1.0.0/linux_amd64/terraform-provider-x", "")
		write(t, dir, "real/x.zip", "")
		link(t, dir, test.target, test.link)
		mirror := getproviders.FilesystemMirror{Dir: filepath.Join(dir, "mirror")}
		_, err := mirror.Versions(t.Context(), provider(t, "acme/x"))
		if (err == nil) != test.ok {
			t.Errorf("a link in the place of %s: %v, want ok %v", name, err, test.ok)
		}
	}
}

func TestFilesystemMirrorIsMissing(t *testing.T) {
	t.Parallel()
	mirror := getproviders.FilesystemMirror{Dir: filepath.Join(t.TempDir(), "none")}
	_, err := mirror.Versions(t.Context(), provider(t, "acme/x"))
	if err == nil || errors.Is(err, getproviders.ErrNotFound) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Versions: %v, want an error that is not ErrNotFound", err)
	}
	if found, ok := errors.AsType[*getproviders.MirrorError](err); !ok || found.Location != mirror.Dir {
		t.Errorf("Versions: %v, want a MirrorError", err)
	}
	if _, err := mirror.Providers(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Providers: %v", err)
	}
}

// TestPluginCache checks that a directory counts only if the lock has its hash.
func TestPluginCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const x = "registry.opentofu.org/acme/x/"
	write(t, dir, x+"1.0.0/linux_amd64/terraform-provider-x_v1.0.0", "binary")
	write(t, dir, x+"1.0.0/darwin_arm64/terraform-provider-x_v1.0.0", "half a bin")
	write(t, dir, x+"1.0.0/linux_amd64.lock", "")
	write(t, dir, x+"terraform-provider-x_2.0.0_linux_amd64.zip", "packed")
	own, err := hashing.Dir(t.Context(), filepath.Join(dir, filepath.FromSlash(x), "1.0.0", "linux_amd64"))
	testenv.Must(t, err)
	zip := hashing.Hash("zh:" + strings.Repeat("0", 64))
	for name, test := range map[string]struct {
		dir, version string
		platform     addrs.Platform
		locked       []hashing.Hash
		ok           bool
	}{
		"locked":         {dir: dir, version: "1.0.0", platform: linux, locked: []hashing.Hash{zip, own}, ok: true},
		"no lock":        {dir: dir, version: "1.0.0", platform: linux},
		"zh only":        {dir: dir, version: "1.0.0", platform: linux, locked: []hashing.Hash{zip}},
		"other content":  {dir: dir, version: "1.0.0", platform: darwin, locked: []hashing.Hash{own}},
		"other version":  {dir: dir, version: "1.1.0", platform: linux, locked: []hashing.Hash{own}},
		"an archive":     {dir: dir, version: "2.0.0", platform: linux, locked: []hashing.Hash{own}},
		"missing":        {dir: filepath.Join(dir, "none"), version: "1.0.0", platform: linux, locked: []hashing.Hash{own}},
		"not configured": {version: "1.0.0", platform: linux, locked: []hashing.Hash{own}},
	} {
		p, err := getproviders.PluginCache{Dir: test.dir}.Package(t.Context(), provider(t, "acme/x"), versions.MustParse(test.version), test.platform, test.locked)
		if test.ok != (err == nil) || err != nil && !errors.Is(err, getproviders.ErrNotFound) {
			t.Errorf("%s: %v, want ok %v", name, err, test.ok)
		}
		if err == nil && p.Dir() == "" {
			t.Errorf("%s: it is not unpacked", name)
		}
	}
}

func FuzzNetworkMirror(f *testing.F) {
	for _, seed := range []string{
		`{"versions": {"1.0.0": {}, "latest": null}}`,
		`{"archives": {"linux_amd64": {"url": "x.zip", "hashes": ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "zh:"]}}}`,
		`{"archives": {"linux_amd64": {"url": "https://u:p@example.com:99999/%zz"}}}`,
		`{"archives": {"linux_amd64": {"url": "https://:?@%"}}}`, `{"archives": {"linux_amd64": {"url": "https://h:?@%"}}}`,
		`{"archives": {"linux_amd64": {"url": "https://[2001:db8::1]?@%"}}}`, `{"archives": {"linux_amd64": {"url": "/://:?@%"}}}`,
		`{"archives": null}`, `[]`, `{"versions": 1}`,
	} {
		f.Add(seed)
	}
	x := provider(f, "acme/x")
	f.Fuzz(func(t *testing.T, body string) {
		m := &getproviders.NetworkMirror{
			URL:        &url.URL{Scheme: "https", Host: "mirror.example.com"},
			HTTPClient: webtest.Fixed(http.Header{"Content-Type": {"application/json"}}, body),
		}
		listing, err := m.Versions(t.Context(), x)
		checkMirrorError(t, err)
		for i, v := range listing.Versions {
			if v.Version.IsZero() || i > 0 && v.Version.Compare(listing.Versions[i-1].Version) < 0 {
				t.Errorf("the versions are %v", shown(listing))
			}
		}
		p, err := m.Package(t.Context(), x, one, linux)
		checkMirrorError(t, err)
		if err != nil {
			return
		}
		webtest.CheckText(t, p.Location())
		// What Redact leaves of an address cannot always be parsed.
		if u, err := url.Parse(p.Location()); !strings.HasPrefix(p.Location(), "https://") || err == nil && u.User != nil {
			t.Errorf("the location is %q, %v", p.Location(), err)
		}
	})
}

func checkMirrorError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if _, ok := errors.AsType[*getproviders.MirrorError](err); !ok {
		t.Errorf("the error is %v, want *MirrorError", err)
	}
	webtest.CheckText(t, err.Error())
}

func FuzzOCIArtifact(f *testing.F) {
	f.Add(ociIndexText(ociTarget{"linux", "amd64", "sha256:" + strings.Repeat("0", 64)}))
	f.Add(ociManifestText(archive))
	f.Add(`{"manifests": [null], "layers": null}`)
	f.Fuzz(func(t *testing.T, text string) {
		index := oci.Document{MediaType: ociIndexType, Text: []byte(text)}
		target, err := getproviders.ParseOCIIndex(index, linux)
		if err == nil && !strings.HasPrefix(target.Digest, "sha") {
			t.Errorf("the digest is %q", target.Digest)
		}
		manifest := oci.Document{MediaType: ociManifestType, Text: []byte(text)}
		layer, err := getproviders.ParseOCITarget(manifest)
		if err == nil && layer.Size <= 0 {
			t.Errorf("the layer is %v", layer)
		}
		if err != nil {
			webtest.CheckText(t, err.Error())
		}
	})
}

func FuzzRepositoryTemplate(f *testing.F) {
	for _, seed := range []string{"example.com/${hostname}/${ namespace }/${type}", "example.com/$${type}", "${hostname}/${", "a/${type}${type}", "1/00"} {
		f.Add(seed)
	}
	x := provider(f, "acme/x")
	f.Fuzz(func(t *testing.T, text string) {
		template, err := getproviders.ParseRepositoryTemplate(text)
		if err != nil {
			return
		}
		host, path, err := template.Expand(x)
		if err != nil {
			return // such as "${type}.": whether it ends well depends on the provider
		}
		if _, err := new(getmodules.Fetcher).OpenOCI(t.Context(), host, path); err != nil {
			t.Errorf("%q: %q is no repository: %v", text, host+"/"+path, err)
		}
	})
}
