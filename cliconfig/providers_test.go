package cliconfig_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func describe(m cliconfig.InstallationMethod) string {
	text := m.Kind
	if m.Path != "" {
		text += " " + filepath.ToSlash(m.Path)
	}
	if m.URL != nil {
		text += " " + m.URL.String()
	}
	if m.Repository.String() != "" {
		text += " " + m.Repository.String()
	}
	if m.TrustAllHashes {
		text += " trusted"
	}
	if m.DownloadAttempts != 0 {
		text += fmt.Sprintf(" attempts=%d", m.DownloadAttempts)
	}
	for _, p := range m.Include {
		text += " +" + p.String()
	}
	for _, p := range m.Exclude {
		text += " -" + p.String()
	}
	return text
}

func installation(method string) string {
	return "provider_installation {\n" + method + "\n}\n"
}

// installationCases have the methods that are read, or nil if the file is refused. All verdicts
// are those of tofu 1.12.6; see TestStockToolsAgree.
var installationCases = []struct {
	text string
	want []string
}{
	{"provider_installation {}", []string{}},
	{installation("direct {}"), []string{"direct"}},
	{installation("direct {}\ndirect {}"), []string{"direct", "direct"}},
	{installation("direct {\n  include = [\"a/b\", \"ACME/*\", \"h.com/*/*\"]\n  exclude = [\"a/c\"]\n}"), []string{
		"direct +registry.opentofu.org/a/b +registry.opentofu.org/acme/* +h.com/*/* -registry.opentofu.org/a/c",
	}},
	{installation("direct {\n  include = []\n}"), []string{"direct"}},
	{installation("direct {\n  download_retry_count = 5\n}"), []string{"direct attempts=6"}},
	{installation("direct {\n  download_retry_count = \"5\"\n}"), []string{"direct attempts=6"}},
	{installation("direct {\n  download_retry_count = 0\n}"), []string{"direct"}},
	{installation("direct {\n  whatever = 1\n}"), []string{"direct"}},
	{installation("filesystem_mirror {\n  path = \"/x/../y\"\n}\ndirect {}"), []string{"filesystem_mirror /y", "direct"}},
	{installation("network_mirror {\n  url = \"https://x.com/a\"\n}"), []string{"network_mirror https://x.com/a/"}},
	{installation("network_mirror {\n  url = \"https://x.com\"\n  trust_all_hashes = true\n}"), []string{"network_mirror https://x.com/ trusted"}},
	{installation("oci_mirror {\n  repository_template = \"x.com/${hostname}/${namespace}/${type}\"\n}"), []string{"oci_mirror x.com/${hostname}/${namespace}/${type}"}},
	{installation("oci_mirror {\n  repository_template = \"x.com/${namespace}/${type}\"\n  include = [\"a.com/*/*\"]\n}"), []string{"oci_mirror x.com/${namespace}/${type} +a.com/*/*"}},
	{installation("oci_mirror {\n  repository_template = \"x.com/y\"\n  include = [\"a.com/b/c\"]\n}"), []string{"oci_mirror x.com/y +a.com/b/c"}},
	{installation("dev_overrides {\n  \"a/b\" = \"/x\"\n}\ndirect {}"), []string{"direct"}},
	{installation("dev_overrides {}\ndev_overrides {\n  b = \"/x\"\n}"), []string{}},
	{`{"provider_installation": [{"direct": [{"include": ["a/b"]}]}]}`, []string{"direct +registry.opentofu.org/a/b"}},
	{`{"provider_installation": {"direct": {}}}`, []string{"direct"}},

	{"provider_installation = {\n  direct {}\n}", nil},
	{"provider_installation = \"direct\"", nil},
	{"provider_installation \"x\" {\n  direct {}\n}", nil},
	{installation("direct {}") + installation("direct {}"), nil},
	{installation("direct = {}"), nil},
	{installation("direct = [{}]"), nil},
	{installation("direct \"x\" {}"), nil},
	{installation("whatever {}"), nil},
	{installation("whatever = 1"), nil},
	{installation("direct {\n  include = \"a/b\"\n}"), nil},
	{installation("direct {\n  include = [1]\n}"), nil},
	{installation("direct {\n  include = [\"a b/c\"]\n}"), nil},
	{installation("direct {\n  include = [\"*/b\"]\n}"), nil},
	{installation("direct {\n  include = [\"null\"]\n}"), nil},
	{installation("direct {\n  exclude = [\"*/a/*\"]\n}"), nil},
	{installation("direct {\n  download_retry_count = \"x\"\n}"), nil},
	{installation("filesystem_mirror {}"), nil},
	{installation("filesystem_mirror {\n  path = \"\"\n}"), nil},
	{installation("filesystem_mirror {\n  path = [\"/x\"]\n}"), nil},
	{installation("network_mirror {}"), nil},
	{installation("network_mirror {\n  url = \"http://x.com/\"\n}"), nil},
	{installation("network_mirror {\n  url = \"::/\"\n}"), nil},
	{installation("network_mirror {\n  url = \" https://x.com/a \"\n}"), []string{"network_mirror https://x.com/a/"}},
	{installation("oci_mirror {}"), nil},
	{installation("oci_mirror {\n  repository_template = \"x.com/y\"\n}"), nil},
	{installation("oci_mirror {\n  repository_template = \"x.com/${namespace}/${type}\"\n  include = [\"a.com/*/*\", \"b.com/*/*\"]\n}"), nil},
	{installation("oci_mirror {\n  repository_template = \"x.com/${hostname}/${namespace}\"\n  include = [\"a.com/*/*\"]\n}"), nil},
	{installation("oci_mirror {\n  repository_template = \"x.com/X/${hostname}/${namespace}/${type}\"\n}"), nil},
	{installation("oci_mirror {\n  repository_template = \"x.com/${hostname}/${namespace}/${foo}\"\n}"), nil},
	{installation("direct {}\ndev_overrides {\n  \"a/b\" = \"/x\"\n}"), nil},
	{installation("dev_overrides {\n  \"a/*\" = \"/x\"\n}"), nil},
	{installation("dev_overrides {\n  \"a/b\" = [\"/x\"]\n}"), nil},
	{`{"provider_installation": {"filesystem_mirror": {"path": "/x"}, "direct": {"include": ["a/b"]}}}`, nil},
	{`{"provider_installation": "direct"}`, nil},
}

func TestProviderInstallation(t *testing.T) {
	t.Parallel()
	for _, test := range installationCases {
		env := cliconfig.Environment{Home: home(t, map[string]string{".tofurc": test.text})}
		config, diags := loadAll(t.Context(), env, cliconfig.Options{})
		if diags.HasErrors() != (test.want == nil) || !config.Providers.Explicit && test.want != nil {
			t.Errorf("%s\n%v, want %q", test.text, diags, test.want)
		}
		if test.want == nil {
			for _, diag := range diags {
				if diag.Subject == nil || diag.Subject.Start.Line < 1 {
					t.Errorf("%s\n%v has no place", test.text, diag)
				}
			}
			continue
		}
		got := []string{}
		for _, m := range config.Providers.Methods {
			got = append(got, describe(m))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s\nmethods (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestInstallationInJSON has a file that stock tools refuse, because their JSON parser does not
// make a list of the block.
func TestInstallationInJSON(t *testing.T) {
	t.Parallel()
	text := `{"provider_installation": {"direct": {"include": ["a/b"], "exclude": ["a/c"]}}}`
	config := load(t, cliconfig.Environment{Home: home(t, map[string]string{".tofurc": text})})
	if got, want := describe(config.Providers.Methods[0]), "direct +registry.opentofu.org/a/b -registry.opentofu.org/a/c"; got != want {
		t.Errorf("the method is %q, want %q", got, want)
	}
}

// TestStockToolsAgree compares verdicts with those of the installed stock tools. It checks only
// every sixth row, because a tool takes a while to start. All rows agreed when they were
// written.
func TestStockToolsAgree(t *testing.T) {
	t.Parallel()
	for offset, tool := range []string{"tofu", "terraform"} {
		binary, err := exec.LookPath(tool)
		if err != nil {
			continue
		}
		dir := t.TempDir()
		for i, test := range installationCases {
			if i%6 != offset || tool == "terraform" && (strings.Contains(test.text, "oci_mirror") || strings.Contains(test.text, "download_retry_count")) {
				continue
			}
			name := filepath.Join(dir, fmt.Sprint(i))
			write(t, name, test.text, 0o600)
			cmd := exec.CommandContext(t.Context(), binary, "version")
			cmd.Env = []string{"TF_CLI_CONFIG_FILE=" + name, "HOME=" + dir, "CHECKPOINT_DISABLE=1"}
			output, err := cmd.CombinedOutput()
			if err != nil && len(output) == 0 {
				t.Fatal(err)
			}
			if refused := strings.Contains(string(output), "Error: "); refused != (test.want == nil) {
				t.Errorf("%s: %s\nrefused %v, want %v:\n%s", tool, test.text, refused, !refused, output)
			}
		}
	}
}

func TestInstallationOfTerraform(t *testing.T) {
	t.Parallel()
	text := installation("dev_overrides {\n  \"acme/x\" = \"/dev/../y\"\n}\ndirect {\n  include = [\"acme/*\"]\n  download_retry_count = \"x\"\n}")
	config := loadWith(t, cliconfig.Environment{Home: home(t, map[string]string{".terraformrc": text})}, cliconfig.Options{Terraform: true})
	if got, want := describe(config.Providers.Methods[0]), "direct +registry.terraform.io/acme/*"; got != want {
		t.Errorf("the method is %q, want %q", got, want)
	}
	want := []cliconfig.DevOverride{{
		Provider: addrs.Provider{Hostname: addrs.TerraformRegistryHost, Namespace: "acme", Type: "x"},
		Dir:      filepath.Clean("/y"),
	}}
	if diff := cmp.Diff(want, config.Providers.DevOverrides); diff != "" {
		t.Errorf("dev overrides (-want +got):\n%s", diff)
	}
	env := cliconfig.Environment{Home: home(t, map[string]string{".terraformrc": installationCases[12].text})}
	if _, diags := loadAll(t.Context(), env, cliconfig.Options{Terraform: true}); !diags.HasErrors() {
		t.Error("oci_mirror is read for terraform")
	}
}

func TestBlocksInSeveralFiles(t *testing.T) {
	t.Parallel()
	env := cliconfig.Environment{Home: home(t, map[string]string{
		".tofurc":             installation("direct {}"),
		".terraform.d/a.tfrc": installation("filesystem_mirror {\n  path = \"/x\"\n}"),
	})}
	config, diags := loadAll(t.Context(), env, cliconfig.Options{})
	if !diags.HasErrors() || !strings.HasSuffix(diags[0].Subject.Filename, "a.tfrc") || len(config.Providers.Methods) != 1 {
		t.Errorf("%v, want an error in the second file", diags)
	}
}

func TestPluginCacheSettings(t *testing.T) {
	t.Parallel()
	const main, other = "plugin_cache_dir = \"$BASE/main\"\n", "plugin_cache_dir = \"${BASE}/other\"\nplugin_cache_may_break_dependency_lock_file = true\n"
	for name, test := range map[string]struct {
		files    map[string]string
		environ  []string
		want     string
		mayBreak bool
	}{
		"nothing":               {},
		"a file":                {files: map[string]string{".tofurc": main}, want: "/base/main"},
		"the first file":        {files: map[string]string{".tofurc": main, ".terraform.d/a.tfrc": other}, want: "/base/main", mayBreak: true},
		"empty is nothing":      {files: map[string]string{".tofurc": "plugin_cache_dir = \"\"", ".terraform.d/a.tfrc": other}, want: "/base/other", mayBreak: true},
		"the environment":       {files: map[string]string{".tofurc": main}, environ: []string{"TF_PLUGIN_CACHE_DIR=/env/$BASE"}, want: "/env/$BASE"},
		"the environment's may": {environ: []string{"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=1"}, mayBreak: true},
		"0 is no":               {environ: []string{"TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE=0"}},
	} {
		config := load(t, cliconfig.Environment{Home: home(t, test.files), Variables: append([]string{"BASE=/base"}, test.environ...)})
		if got := config.Providers; got.PluginCacheDir != test.want || got.PluginCacheMayBreakLock != test.mayBreak {
			t.Errorf("%s: %q, %v, want %q, %v", name, got.PluginCacheDir, got.PluginCacheMayBreakLock, test.want, test.mayBreak)
		}
	}
	env := cliconfig.Environment{Home: home(t, map[string]string{".tofurc": "plugin_cache_dir = [1]"})}
	if _, diags := loadAll(t.Context(), env, cliconfig.Options{}); !diags.HasErrors() {
		t.Error("a list is no directory")
	}
}

// TestImpliedMirrors has the directories that tofu 1.12.6 and terraform 1.11.4 log on Linux, and
// those that their manuals list for other systems.
func TestImpliedMirrors(t *testing.T) {
	t.Parallel()
	xdg := []string{"XDG_DATA_HOME=/dh", "XDG_DATA_DIRS=/a:/b", "XDG_CONFIG_HOME=/ch"}
	for name, test := range map[string]struct {
		env       cliconfig.Environment
		terraform bool
		want      []string
	}{
		"no home": {env: cliconfig.Environment{GOOS: "linux"}, want: []string{"terraform.d/plugins"}},
		"linux": {
			env: cliconfig.Environment{GOOS: "linux", Home: "/h"},
			want: []string{
				"terraform.d/plugins", "/h/.terraform.d/plugins", "/h/.local/share/terraform/plugins",
				"/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins",
			},
		},
		"linux with XDG": {
			env: cliconfig.Environment{GOOS: "linux", Home: "/h", Variables: xdg},
			want: []string{
				"terraform.d/plugins", "/h/.terraform.d/plugins", "/dh/opentofu/plugins", "/dh/terraform/plugins",
				"/a/terraform/plugins", "/b/terraform/plugins",
			},
		},
		"terraform": {
			env: cliconfig.Environment{GOOS: "linux", Home: "/h", Variables: xdg}, terraform: true,
			want: []string{
				"terraform.d/plugins", "/h/.terraform.d/plugins", "/dh/terraform/plugins",
				"/a/terraform/plugins", "/b/terraform/plugins",
			},
		},
		"darwin": {
			env: cliconfig.Environment{GOOS: "darwin", Home: "/h"},
			want: []string{
				"terraform.d/plugins", "/h/.terraform.d/plugins",
				"/h/Library/Application Support/io.terraform/plugins", "/Library/Application Support/io.terraform/plugins",
			},
		},
		"windows": {
			env:  cliconfig.Environment{GOOS: "windows", Home: "/h", Variables: []string{"APPDATA=/ad"}},
			want: []string{"terraform.d/plugins", "/ad/terraform.d/plugins", "/ad/HashiCorp/Terraform/plugins"},
		},
	} {
		config := loadWith(t, test.env, cliconfig.Options{Terraform: test.terraform})
		var got []string
		for _, dir := range config.Providers.ImpliedMirrors {
			got = append(got, filepath.ToSlash(dir))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

type registry struct{ attempts int }

func (registry) Versions(context.Context, addrs.Provider) (getproviders.Listing, error) {
	return getproviders.Listing{Versions: []getproviders.Version{{Version: versions.MustParse("9.0.0")}}}, nil
}

func (registry) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{{Kind: evidence.Signature}}
}

func (registry) Local() getproviders.Source { return getproviders.Multi(nil) }

func (registry) Package(context.Context, addrs.Provider, versions.Version, addrs.Platform) (getproviders.Package, error) {
	return nil, getproviders.ErrNotFound
}

// providerSourceCases are configurations, in which DIR stands for the directory of the project.
var providerSourceCases = map[string]struct {
	methods string // the content of the block provider_installation; "" means that there is no block
	// x and y are the versions of both providers, and sharedX those of x without the mirrors of
	// the project.
	x, y, sharedX string
	evidenceOfX   string // the kinds
	inProject     bool
}{
	"implied": { // the registry is never queried for x
		methods: "", x: "1.0.0 2.0.0", sharedX: "1.0.0", y: "9.0.0", evidenceOfX: "project mirror", inProject: true,
	},
	"explicit": {
		methods: "direct {}",
		x:       "9.0.0", sharedX: "9.0.0", y: "9.0.0", evidenceOfX: "signature",
	},
	"nothing": {
		methods: "\n",
		x:       "not found", sharedX: "not found", y: "not found",
	},
	"overrides alone": {
		methods: "dev_overrides {\n  \"acme/x\" = \"/x\"\n}",
		x:       "not found", sharedX: "not found", y: "not found",
	},
	"overrides with direct": {
		methods: "dev_overrides {\n  \"acme/x\" = \"/x\"\n}\ndirect {}",
		x:       "9.0.0", sharedX: "9.0.0", y: "9.0.0", evidenceOfX: "signature",
	},
	"a relative mirror": {
		methods: "filesystem_mirror {\n  path = \"mirror\"\n}",
		x:       "not found", sharedX: "not found", y: "3.0.0", evidenceOfX: "project", inProject: true,
	},
	"the union": {
		methods: "filesystem_mirror {\n  path = \"DIR/mirror\"\n}\ndirect {}",
		x:       "9.0.0", sharedX: "9.0.0", y: "3.0.0 9.0.0", evidenceOfX: "mirror signature",
	},
	"a pattern": {
		methods: "filesystem_mirror {\n  path = \"DIR/mirror\"\n}\ndirect {\n  exclude = [\"acme/y\"]\n}",
		x:       "9.0.0", sharedX: "9.0.0", y: "3.0.0", evidenceOfX: "mirror signature",
	},
	"a missing mirror": {
		methods: "filesystem_mirror {\n  path = \"DIR/none\"\n}\ndirect {}",
		x:       "failed", sharedX: "failed", y: "failed", evidenceOfX: "mirror signature",
	},
	"a missing relative mirror": {
		methods: "filesystem_mirror {\n  path = \"none\"\n}\ndirect {}",
		x:       "failed", sharedX: "9.0.0", y: "failed", evidenceOfX: "project signature",
	},
}

// TestProviderSource has configurations and the versions that are found with them. There are
// mirrors in the user's directory, in the configuration's directory, and in another directory,
// DIR.
func TestProviderSource(t *testing.T) {
	t.Parallel()
	const at = "registry.opentofu.org/acme/"
	user := home(t, map[string]string{
		".terraform.d/plugins/" + at + "x/1.0.0/linux_amd64/x": "",
		".terraform.d/plugins/terraform-credentials-vault":     "",
	})
	dir := home(t, map[string]string{
		"terraform.d/plugins/" + at + "x/2.0.0/linux_amd64/x": "",
		"mirror/" + at + "y/3.0.0/linux_amd64/y":              "",
	})
	for name, test := range providerSourceCases {
		text := ""
		if test.methods != "" {
			text = installation(test.methods)
		}
		write(t, filepath.Join(user, ".tofurc"), strings.ReplaceAll(text, "DIR", filepath.ToSlash(dir)), 0o600)
		config := load(t, cliconfig.Environment{Home: user, GOOS: "linux", Variables: []string{"XDG_DATA_DIRS=/none"}})
		source, err := config.ProviderSource(t.Context(), cliconfig.ProviderSourceOptions{
			Direct: func(attempts int) getproviders.Source { return registry{attempts} },
			Dir:    dir,
			InProject: func(mirror string) bool {
				if _, err := os.Stat(mirror); err != nil && !config.Providers.Explicit {
					t.Errorf("%s: it is asked where the implied mirror %s is, which does not exist", name, mirror)
				}
				return false
			},
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for typ, want := range map[string]string{"x": test.x, "y": test.y} {
			listing, err := source.Versions(t.Context(), addrs.Provider{Hostname: addrs.DefaultRegistryHost, Namespace: "acme", Type: typ})
			if got := found(listing, err); got != want {
				t.Errorf("%s: versions of %s are %q, want %q; %v", name, typ, got, want, err)
			}
		}
		x := addrs.Provider{Hostname: addrs.DefaultRegistryHost, Namespace: "acme", Type: "x"}
		var kinds []string
		for _, e := range source.Evidence(x) {
			kinds = append(kinds, e.Kind.String())
		}
		if got := strings.Join(kinds, " "); got != test.evidenceOfX {
			t.Errorf("%s: the evidence is %q, want %q", name, got, test.evidenceOfX)
		}
		shared, err := config.ProviderSource(t.Context(), cliconfig.ProviderSourceOptions{
			Direct: func(attempts int) getproviders.Source { return registry{attempts} },
			Dir:    dir, NoProject: true,
		})
		testenv.Must(t, err)
		if got := found(shared.Versions(t.Context(), x)); got != test.sharedX {
			t.Errorf("%s: without the project's mirrors the versions are %q, want %q", name, got, test.sharedX)
		}
		if got := config.Providers.InProject(dir); got != test.inProject {
			t.Errorf("%s: InProject = %v", name, got)
		}
	}
}

func found(listing getproviders.Listing, err error) string {
	if errors.Is(err, getproviders.ErrNotFound) {
		return "not found"
	}
	if err != nil {
		return "failed"
	}
	var all []string
	for _, v := range listing.Versions {
		all = append(all, v.Version.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestSourcesOfMethods(t *testing.T) {
	t.Parallel()
	config := load(t, cliconfig.Environment{Variables: []string{"TF_PROVIDER_DOWNLOAD_RETRY=7", "TF_REGISTRY_DISCOVERY_RETRY=4"}, Home: home(t, map[string]string{
		".tofurc": installation("direct {\n  download_retry_count = 2\n}\ndirect {}\nnetwork_mirror {\n  url = \"https://u:p@x.com/\"\n  trust_all_hashes = true\n}\noci_mirror {\n  repository_template = \"x.com/${hostname}/${namespace}/${type}\"\n}"),
	})})
	source, err := config.ProviderSource(t.Context(), cliconfig.ProviderSourceOptions{
		Direct:    func(attempts int) getproviders.Source { return registry{attempts} },
		UserAgent: "test",
	})
	testenv.Must(t, err)
	methods := source.(getproviders.Multi)
	if methods[0].Source != (registry{3}) || methods[1].Source != (registry{8}) {
		t.Errorf("direct is %v and %v, want the attempts of the block, or of the environment", methods[0].Source, methods[1].Source)
	}
	network := methods[2].Source.(*getproviders.NetworkMirror)
	if network.URL.String() != "https://u:p@x.com/" || network.Credentials != config || !network.TrustAllHashes || network.TrustedHost != addrs.DefaultRegistryHost || network.Attempts != 5 || network.UserAgent != "test" {
		t.Errorf("the network mirror is %+v", network)
	}
	oci := methods[3].Source.(*getproviders.OCIMirror)
	fetcher := oci.Fetcher.(*getmodules.Fetcher)
	if fetcher.OCICredentials == nil || fetcher.Attempts != 5 || fetcher.UserAgent != "test" {
		t.Errorf("the OCI mirror is %+v", oci)
	}
}
