package cliconfig_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
)

func basic(label, user string) string {
	return fmt.Sprintf("oci_credentials %q {\n  username = %q\n  password = %q\n}\n", label, user, canary)
}

func auths(users map[string]string) string {
	var entries []string
	for key, user := range users {
		pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + canary))
		entries = append(entries, fmt.Sprintf("%q: {\"auth\": %q}", key, pair))
	}
	return `{"auths": {` + strings.Join(entries, ", ") + `}, "other": 1}`
}

func shown(c getmodules.OCICredential) string {
	switch {
	case c.AccessToken != "" || c.RefreshToken != "":
		return "access " + c.AccessToken + ", refresh " + c.RefreshToken
	case c.Username != "" && c.Password != canary:
		return c.Username + " with the password " + c.Password
	}
	return c.Username
}

func TestOCIBlocks(t *testing.T) {
	t.Parallel()
	config := load(t, cliconfig.Environment{Home: home(t, map[string]string{
		".tofurc":             basic("r.com/team", "team") + basic("r.com", "host") + basic("R.com:8443", "port") + basic("r.com/team/a/b", "ab"),
		".terraform.d/a.tfrc": "oci_credentials \"tokens.com\" {\n  access_token = \"A\"\n  refresh_token = \"R\"\n}\n",
		".docker/config.json": auths(map[string]string{"r.com": "docker", "r.com/team/a": "docker a", "r.com/other": "docker other"}),
	})})
	for repository, want := range map[string]string{
		"r.com/net":             "host",
		"R.COM/net":             "host",
		"r.com/team":            "team",
		"r.com/team/x":          "team",
		"r.com/teams":           "host",
		"r.com/team-x/y":        "host",
		"r.com/team/a":          "docker a",
		"r.com/team/a/b":        "ab",
		"r.com/team/a/b/c":      "ab",
		"r.com/team/a/bc":       "docker a",
		"r.com/other/x":         "docker other",
		"r.com:8443/team":       "port",
		"r.com:443/team":        "",
		"r.com.:8443/team":      "",
		"sub.r.com/team":        "",
		"xr.com/team":           "",
		"com/team":              "",
		"tokens.com/x":          "access A, refresh R",
		"other.com/r.com/team":  "",
		"r.com.other.com/team":  "",
		"other.com/tokens.com/": "",
	} {
		host, path, _ := strings.Cut(repository, "/")
		got, err := config.OCICredentials(t.Context(), host, path)
		if err != nil || shown(got) != want {
			t.Errorf("OCICredentials(%q) = %q, %v; want %q", repository, shown(got), err, want)
		}
	}
}

func TestOCIDefaults(t *testing.T) {
	t.Parallel()
	docker := auths(map[string]string{"r.com": "ambient"})
	for name, test := range map[string]struct {
		config string
		want   string
	}{
		"nothing":       {"", "ambient"},
		"discover":      {"oci_default_credentials { discover_ambient_credentials = true }", "ambient"},
		"do not":        {"oci_default_credentials { discover_ambient_credentials = false }", ""},
		"files":         {"oci_default_credentials { docker_style_config_files = [\"own/auth.json\", \"HOME/own/second.json\"] }", "own"},
		"other order":   {"oci_default_credentials { docker_style_config_files = [\"HOME/own/second.json\", \"own/auth.json\"] }", "second"},
		"no files":      {"oci_default_credentials { docker_style_config_files = [] }", ""},
		"block as well": {"oci_default_credentials { docker_style_config_files = [\"own/auth.json\"] }\n" + basic("r.com", "block"), "block"},
	} {
		dir := home(t, map[string]string{
			".docker/config.json": docker,
			"own/auth.json":       auths(map[string]string{"r.com": "own"}),
			"own/second.json":     auths(map[string]string{"r.com": "second"}),
		})
		write(t, dir+"/.tofurc", strings.ReplaceAll(test.config, "HOME", dir), 0o600)
		got, err := load(t, cliconfig.Environment{Home: dir}).OCICredentials(t.Context(), "r.com", "a")
		if err != nil || shown(got) != test.want {
			t.Errorf("%s: OCICredentials = %q, %v; want %q", name, shown(got), err, test.want)
		}
	}
}

func TestOCIAmbientFiles(t *testing.T) {
	t.Parallel()
	all := []string{"run/containers/auth.json", ".config/containers/auth.json", "xdg/containers/auth.json", ".docker/config.json", ".dockercfg"}
	for goos, tests := range map[string][]struct {
		environ []string
		want    []string // the files that are used, in the order of precedence
	}{
		"linux": {
			{nil, []string{".config/containers/auth.json", ".docker/config.json", ".dockercfg"}},
			{[]string{"XDG_RUNTIME_DIR=HOME/run"}, []string{"run/containers/auth.json", ".config/containers/auth.json", ".docker/config.json", ".dockercfg"}},
			{[]string{"XDG_CONFIG_HOME=HOME/xdg"}, []string{"xdg/containers/auth.json", ".docker/config.json", ".dockercfg"}},
		},
		"darwin": {
			{[]string{"XDG_RUNTIME_DIR=HOME/run"}, []string{".config/containers/auth.json", ".docker/config.json", ".dockercfg"}},
			{[]string{"XDG_CONFIG_HOME=HOME/xdg"}, []string{".config/containers/auth.json", "xdg/containers/auth.json", ".docker/config.json", ".dockercfg"}},
		},
		"windows": {{nil, []string{".config/containers/auth.json", ".docker/config.json", ".dockercfg"}}},
	} {
		for _, test := range tests {
			remaining := map[string]string{}
			for _, name := range all {
				remaining[name] = auths(map[string]string{"r.com": name})
			}
			for _, want := range append(test.want, "") {
				dir := home(t, remaining)
				source := cliconfig.Environment{Home: dir, GOOS: goos}
				for _, entry := range test.environ {
					source.Variables = append(source.Variables, strings.ReplaceAll(entry, "HOME/", dir+"/"))
				}
				got, err := load(t, source).OCICredentials(t.Context(), "r.com", "a")
				if err != nil || got.Username != want {
					t.Errorf("%s, %q with %q: OCICredentials = %q, %v; want %q", goos, test.environ, slices.Sorted(maps.Keys(remaining)), got.Username, err, want)
				}
				delete(remaining, want)
			}
		}
	}
}

func TestOCIBrokenFiles(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text, want string
	}{
		"no JSON":       {canary, "not the JSON"},
		"nesting":       {strings.Repeat("[", 10_000), "nested"},
		"wrong type":    {`{"auths": {"r.com": "` + canary + `"}}`, "not the JSON"},
		"no base64":     {`{"auths": {"r.com": {"auth": "` + canary + `!"}}}`, `"r.com"`},
		"no colon":      {`{"auths": {"r.com": {"auth": "` + base64.StdEncoding.EncodeToString([]byte(canary)) + `"}}}`, `"r.com"`},
		"elsewhere":     {`{"auths": {"other.com": {"auth": "` + canary + `!"}}}`, ""},
		"less specific": {`{"auths": {"r.com": {"auth": "!"}, "r.com/a": {"auth": "` + base64.StdEncoding.EncodeToString([]byte("u:p")) + `"}}}`, ""},
		"empty":         {`{"auths": {"r.com": {}}}`, ""},
		"URLs":          {`{"auths": {"https://r.com": {"auth": "!"}, "https://index.docker.io/v1/": {"auth": "!"}}}`, ""},
	} {
		config := load(t, cliconfig.Environment{Home: home(t, map[string]string{".docker/config.json": test.text})})
		for range 2 {
			_, err := config.OCICredentials(t.Context(), "r.com", "a")
			if test.want == "" {
				if err != nil {
					t.Errorf("%s: OCICredentials: %v", name, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "config.json") || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: OCICredentials = %v, want an error with %q and the file, without the secret", name, err, test.want)
			}
		}
	}
	dir := home(t, map[string]string{".tofurc": `oci_default_credentials { docker_style_config_files = ["missing.json"] }`})
	if _, err := load(t, cliconfig.Environment{Home: dir}).OCICredentials(t.Context(), "r.com", "a"); err == nil || !strings.Contains(err.Error(), "missing.json") {
		t.Errorf("a named file that is missing: %v, want an error with its name", err)
	}
}

func FuzzOCICredentials(f *testing.F) {
	f.Add(auths(map[string]string{"r.com/a": "u"}), "r.com", "a/b")
	f.Add(`{"credHelpers": {"r.com": "x"}, "credsStore": "y"}`, "r.com", "a")
	f.Fuzz(func(t *testing.T, text, host, path string) {
		config := load(t, cliconfig.Environment{Home: home(t, map[string]string{".docker/config.json": text})})
		found, err := config.OCICredentials(t.Context(), host, path)
		if err != nil && found != (getmodules.OCICredential{}) {
			t.Errorf("OCICredentials = %v and %v", found, err)
		}
	})
}
