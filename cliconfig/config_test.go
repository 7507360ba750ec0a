package cliconfig_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]addrs.Hostname{
		"TF_TOKEN_reg_example_com":           "reg.example.com",
		"TF_TOKEN_REG_EXAMPLE_COM":           "reg.example.com",
		"TF_TOKEN_my__reg_example_com":       "my-reg.example.com",
		"TF_TOKEN_my-reg_example_com":        "my-reg.example.com",
		"TF_TOKEN_reg.example.com":           "reg.example.com",
		"TF_TOKEN_localhost":                 "localhost",
		"TF_TOKEN_127.0.0.1:8443":            "127.0.0.1:8443",
		"TF_TOKEN_127_0_0_1:8443":            "127.0.0.1:8443",
		"TF_TOKEN_reg_example_com:443":       "reg.example.com",
		"TF_TOKEN_xn____bcher__kva_example":  "xn--bcher-kva.example",
		"TF_TOKEN_xn--bcher-kva.example":     "xn--bcher-kva.example",
		"TF_TOKEN_bücher.example":            "xn--bcher-kva.example",
		"TF_TOKEN_reg_example_com_443_extra": "reg.example.com.443.extra",
		"TF_TOKEN_reg_example_com:notaport":  "",
		"TF_TOKEN_reg___example":             "", // for reg-.example
		"TF_TOKEN_":                          "",
		"TF_TOKENS_reg_example_com":          "",
		"tf_token_reg_example_com":           "",
	} {
		config := load(t, cliconfig.Environment{Variables: []string{variable + "=t=1"}})
		for _, known := range []addrs.Hostname{
			"reg.example.com", "my-reg.example.com", "localhost", "127.0.0.1:8443", "127.0.0.1", "xn--bcher-kva.example",
			"reg.example.com.443.extra", "sub.reg.example.com", "example.com", "reg.example.com:8443",
		} {
			wantToken := ""
			if known == want {
				wantToken = "t=1"
			}
			if got := tokenFor(t, config, known); got != wantToken {
				t.Errorf("%s: the token for %q is %q, want %q", variable, known, got, wantToken)
			}
		}
	}
}

func TestEmptyVariableIsAToken(t *testing.T) {
	t.Parallel()
	config := load(t, cliconfig.Environment{
		Home:      home(t, map[string]string{".tofurc": credentials("file")}),
		Variables: []string{"TF_TOKEN_reg_example_com="},
	})
	if token, ok, err := config.Token(t.Context(), host); !ok || err != nil || string(token) != "" {
		t.Errorf("Token = %q, %v, %v; want an empty one", string(token), ok, err)
	}
}

func TestServices(t *testing.T) {
	t.Parallel()
	want := map[addrs.Hostname]map[string]any{host: {"modules.v1": "https://m.example.com/v1/"}}
	for name, text := range map[string]string{
		"argument": "host \"reg.example.com\" {\n  services = {\n    \"modules.v1\" = \"https://m.example.com/v1/\"\n  }\n}\n",
		"block":    `host "Reg.Example.com" { services { "modules.v1" = "https://m.example.com/v1/" } }`,
		"bare":     `host reg.example.com { services { modules.v1 = "https://m.example.com/v1/" } }`,
		"object":   `"host" = { "reg.example.com:443" = { services = { "modules.v1" = "https://m.example.com/v1/" } } }`,
		"json":     `{"host": {"reg.example.com": {"services": {"modules.v1": "https://m.example.com/v1/"}}}}`,
		"lists":    `{"host": [{"reg.example.com": [{"services": [{"modules.v1": "https://m.example.com/v1/"}]}]}]}`,
	} {
		for _, file := range []string{".tofurc", ".terraform.d/x.tfrc", ".terraform.d/x.tfrc.json"} {
			config := load(t, cliconfig.Environment{Home: home(t, map[string]string{file: text})})
			if diff := cmp.Diff(want, config.Services); diff != "" {
				t.Errorf("%s in %s: services (-want +got):\n%s", name, file, diff)
			}
		}
	}
	config := load(t, cliconfig.Environment{Home: home(t, map[string]string{
		".tofurc":             `host "reg.example.com" { services { "modules.v1" = "/main/" } }`,
		".terraform.d/x.tfrc": `host "reg.example.com" { services { "providers.v1" = "/dir/", "modules.v1" = 1 } }`,
	})})
	if _, ok := config.Services[host]["modules.v1"].(string); ok || config.Services[host]["providers.v1"] != "/dir/" {
		t.Errorf("services = %v, want those of the last file, the number as no string", config.Services[host])
	}
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	const block = "registry_protocols {\n  retry_count = %v\n  request_timeout_seconds = %v\n}\n"
	both := map[string]string{".tofurc": fmt.Sprintf(block, 2, 20), ".terraform.d/a.tfrc": fmt.Sprintf(block, 3, 30)}
	tests := []struct {
		name     string
		files    map[string]string
		environ  []string
		attempts int
		timeout  time.Duration
		warnings int
	}{
		{name: "nothing"},
		{name: "the main file wins", files: both, attempts: 3, timeout: 20 * time.Second},
		{
			name:     "by argument",
			files:    map[string]string{".tofurc": "registry_protocols {\n retry_count = 4\n}", ".terraform.d/a.tfrc": fmt.Sprintf(block, 3, `"30"`)},
			attempts: 5, timeout: 30 * time.Second,
		},
		{name: "0 in a file is never", files: map[string]string{".tofurc": fmt.Sprintf(block, 0, 1)}, attempts: 1, timeout: time.Second},
		{name: "0 stays", files: map[string]string{".tofurc": fmt.Sprintf(block, 0, 1), ".terraform.d/a.tfrc": fmt.Sprintf(block, 3, 30)}, attempts: 1, timeout: time.Second},
		{
			name: "the environment wins", files: both,
			environ:  []string{"TF_REGISTRY_DISCOVERY_RETRY=7", "TF_REGISTRY_CLIENT_TIMEOUT=70"},
			attempts: 8, timeout: 70 * time.Second,
		},
		{
			name: "0 in the environment is nothing", files: both,
			environ:  []string{"TF_REGISTRY_DISCOVERY_RETRY=0", "TF_REGISTRY_CLIENT_TIMEOUT=0"},
			attempts: 3, timeout: 20 * time.Second, warnings: 2,
		},
		{
			name: "nor is anything else", files: both,
			environ:  []string{"TF_REGISTRY_DISCOVERY_RETRY=-1", "TF_REGISTRY_CLIENT_TIMEOUT=10s"},
			attempts: 3, timeout: 20 * time.Second, warnings: 2,
		},
		{name: "too much", environ: []string{"TF_REGISTRY_DISCOVERY_RETRY=1000000", "TF_REGISTRY_CLIENT_TIMEOUT=99999999999999999999"}, warnings: 2},
	}
	for _, test := range tests {
		config, diags := loadAll(t.Context(), cliconfig.Environment{Home: home(t, test.files), Variables: test.environ}, cliconfig.Options{})
		if diags.HasErrors() || len(diags) != test.warnings {
			t.Errorf("%s: %v, want %d warnings", test.name, diags, test.warnings)
		}
		if config.Attempts != test.attempts || config.Timeout != test.timeout {
			t.Errorf("%s: attempts %d and timeout %s, want %d and %s", test.name, config.Attempts, config.Timeout, test.attempts, test.timeout)
		}
	}
}

// TestSecretsAreNotPrinted prints a configuration, and the credentials that it returns, in every
// way that package fmt and encoding/json support.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	config := load(t, cliconfig.Environment{
		Home: home(t, map[string]string{
			".tofurc":             credentials(canary) + basic("r.com", "u") + installation("network_mirror {\n  url = \"https://u:"+canary+"@m.com/\"\n}"),
			".netrc":              "machine reg.example.com login u password " + canary,
			".docker/config.json": auths(map[string]string{"docker.com": "u"}),
		}),
		Variables: []string{"TF_TOKEN_env_example_com=" + canary},
	})
	ctx := t.Context()
	values := []any{config, *new(getmodules.OCICredential), disco.BearerToken(canary)}
	for _, host := range []addrs.Hostname{host, "env.example.com"} {
		token, err := config.ForHost(ctx, host)
		if err != nil || token == nil {
			t.Fatalf("ForHost(%q) = %v, %v", host, token, err)
		}
		values = append(values, token, []disco.Credentials{token})
	}
	for _, host := range []string{"r.com", "docker.com"} {
		found, err := config.OCICredentials(ctx, host, "x")
		if err != nil || found.Password != canary {
			t.Fatalf("OCICredentials(%q) = %v, %v", host, found, err)
		}
		values = append(values, found, &found, []getmodules.OCICredential{found})
	}
	if user, err := config.HTTPCredentials(ctx, &url.URL{Scheme: "https", Host: string(host)}); err != nil || user == nil {
		t.Fatalf("HTTPCredentials = %v, %v", user, err)
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("u:" + canary))
	for _, value := range values {
		shown := []string{}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			shown = append(shown, fmt.Sprintf(verb, value))
		}
		text, err := json.Marshal(value)
		testenv.Must(t, err)
		for _, text := range append(shown, string(text)) {
			if strings.Contains(text, canary) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", canary)) || strings.Contains(text, encoded) {
				t.Errorf("a secret is printed: %s", text)
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{
		".tofurc":             credentials(canary) + "credentials \"none.example.com\" {}\ncredentials_helper \"vault\" {}\n" + basic("r.com/team", "u"),
		".netrc":              "machine a.example login a password " + canary + "\n",
		".docker/config.json": auths(map[string]string{"docker.example": "d"}),
	})
	script(t, filepath.Join(dir, ".terraform.d/plugins/terraform-credentials-vault"),
		"case $2 in *helped*) echo '{\"token\": \""+canary+"\"}';; *) echo '{}';; esac\n")
	config := load(t, cliconfig.Environment{Home: dir, Variables: []string{"TF_TOKEN_var_example_com=" + canary, "PATH=/usr/bin:/bin"}})
	for host, want := range map[string]cliconfig.Place{
		"var.example.com":    {Kind: cliconfig.PlaceVariable, Name: "TF_TOKEN_var_example_com"},
		"reg.example.com":    {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".tofurc")},
		"helped.example.com": {Kind: cliconfig.PlaceHelper, Name: filepath.Join(dir, ".terraform.d/plugins/terraform-credentials-vault")},
		"none.example.com":   {},
		"other.example.com":  {},
	} {
		if got, err := config.TokenPlace(t.Context(), addrs.Hostname(host)); got != want || err != nil {
			t.Errorf("TokenPlace(%q) = %v, %v; want %v", host, got, err, want)
		}
	}
	for address, want := range map[string]cliconfig.Place{
		"https://a.example/x": {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".netrc")},
		"https://b.example/x": {},
	} {
		at, err := url.Parse(address)
		testenv.Must(t, err)
		if got, err := config.HTTPPlace(t.Context(), at); got != want || err != nil {
			t.Errorf("HTTPPlace(%q) = %v, %v; want %v", address, got, err, want)
		}
	}
	for name, want := range map[string]cliconfig.Place{
		"r.com/team":         {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".tofurc")},
		"docker.example/net": {Kind: cliconfig.PlaceFile, Name: filepath.Join(dir, ".docker", "config.json")},
		"other.example/net":  {},
	} {
		host, path := filepath.Split(name)
		if got, err := config.OCIPlace(t.Context(), filepath.Clean(host), path); got != want || err != nil {
			t.Errorf("OCIPlace(%q) = %v, %v; want %v", name, got, err, want)
		}
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	home, xdg := filepath.Join(root, "home", "u"), filepath.Join(root, "xdg")
	const state, settings = "/home/u/.local/state/cotter", "/home/u/.config/cotter/cotter.hcl"
	for _, test := range []struct {
		name, goos             string
		env                    map[string]string
		cache, state, settings string
	}{
		{"home", "linux", map[string]string{"HOME": home}, "/home/u/.cache/cotter", state, settings},
		{"root as home", "linux", map[string]string{"HOME": root}, "/.cache/cotter", "/.local/state/cotter", "/.config/cotter/cotter.hcl"},
		{"relative home", "linux", map[string]string{"HOME": "u"}, "u/.cache/cotter", "", ""},
		{"no home", "linux", nil, "", "", ""},
		{"XDG", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg, "XDG_STATE_HOME": xdg, "XDG_CONFIG_HOME": xdg}, "/xdg/cotter", "/xdg/cotter", "/xdg/cotter/cotter.hcl"},
		{"relative XDG", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}, "", state, settings},
		{"XDG without a home", "freebsd", map[string]string{"XDG_CACHE_HOME": xdg, "XDG_STATE_HOME": xdg}, "/xdg/cotter", "/xdg/cotter", ""},
		{"own variables", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg, "XDG_STATE_HOME": xdg, "XDG_CONFIG_HOME": xdg, "COTTER_CACHE_DIR": "c", "COTTER_STATE_DIR": "s", "COTTER_CONFIG_FILE": "f"}, "c", "s", "f"},
		{"macOS", "darwin", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg}, "/home/u/Library/Caches/cotter", state, settings},
		{"macOS without a home", "darwin", nil, "", "", ""},
		{"Windows", "windows", map[string]string{"HOME": home, "LocalAppData": home, "APPDATA": home, "XDG_CACHE_HOME": xdg}, "/home/u/cotter", "/home/u/cotter", "/home/u/cotter/cotter.hcl"},
		{"Windows, other case", "windows", map[string]string{"LOCALAPPDATA": home}, "/home/u/cotter", "/home/u/cotter", ""},
		{"Windows, own variables", "windows", map[string]string{"LocalAppData": home, "COTTER_CACHE_DIR": "c", "COTTER_STATE_DIR": "s"}, "c", "s", ""},
		{"Windows without a profile", "windows", map[string]string{"HOME": home}, "", "", ""},
	} {
		env := directoriesEnvironment(test.goos, test.env)
		file, named := env.ConfigFile()
		for what, pair := range map[string][2]string{
			"the cache": {env.CacheDir(), test.cache}, "the state": {env.StateDir(), test.state}, "the settings": {file, test.settings},
		} {
			want := filepath.FromSlash(pair[1])
			if rest, ok := strings.CutPrefix(pair[1], "/"); ok {
				want = filepath.Join(root, rest)
			}
			if pair[0] != want {
				t.Errorf("%s: %s is %q, want %q", test.name, what, pair[0], want)
			}
		}
		if named != (test.env["COTTER_CONFIG_FILE"] != "") {
			t.Errorf("%s: the file of settings is named: %t", test.name, named)
		}
	}
}

func TestDirectoriesOfUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() < 0 {
		t.Skip("users have no numbers on this system")
	}
	env := directoriesEnvironment("linux", map[string]string{"COTTER_CACHE_DIR": "/cache/{uid}", "COTTER_STATE_DIR": "/state/{uid}/x"})
	id := strconv.Itoa(os.Getuid())
	if cache, state := env.CacheDir(), env.StateDir(); cache != "/cache/"+id || state != "/state/"+id+"/x" {
		t.Errorf("the directories are %q and %q", cache, state)
	}
}

func TestCacheDirOfThisProcess(t *testing.T) {
	t.Parallel()
	env := cliconfig.OSEnvironment()
	env.Variables = slices.DeleteFunc(env.Variables, func(entry string) bool { return strings.HasPrefix(entry, "COTTER_") })
	want, err := os.UserCacheDir()
	if err == nil {
		want = filepath.Join(want, "cotter")
	}
	if got := env.CacheDir(); got != want {
		t.Errorf("%s: %q, want %q", runtime.GOOS, got, want)
	}
}

func directoriesEnvironment(goos string, variables map[string]string) cliconfig.Environment {
	env := cliconfig.Environment{GOOS: goos}
	for name, value := range variables {
		env.Variables = append(env.Variables, name+"="+value)
	}
	if goos != "windows" {
		env.Home = variables["HOME"]
	}
	return env
}
