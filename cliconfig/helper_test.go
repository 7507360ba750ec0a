package cliconfig_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
)

const (
	helperBlock = "credentials_helper \"test\" {\n  args = [\"--profile\", \"a b\"]\n}\n"
	plugins     = ".terraform.d/plugins/"
	says        = `echo '{"token": "` + canary + `"}'`
)

func withHelper(t *testing.T, text string) (cliconfig.Environment, string) {
	t.Helper()
	dir := home(t, map[string]string{".tofurc": helperBlock})
	log := script(t, filepath.Join(dir, plugins, "terraform-credentials-test"), text)
	return cliconfig.Environment{Home: dir, Variables: []string{"PATH=/usr/bin:/bin"}}, log
}

func TestHelper(t *testing.T) {
	t.Parallel()
	env, log := withHelper(t, `for a in "$@"; do echo "$a" >> "$LOG"; done; read x && echo stdin >> "$LOG"; `+says)
	config := load(t, env)
	if got := lines(t, log); got[0] != "" {
		t.Errorf("Load ran the helper: %q", got)
	}
	if got := tokenFor(t, config, "xn--bcher-kva.example:8443"); got != canary {
		t.Errorf("the token is %q, want the helper's", got)
	}
	if diff := cmp.Diff([]string{"--profile", "a b", "get", "xn--bcher-kva.example:8443"}, lines(t, log)); diff != "" {
		t.Errorf("the helper was asked (-want +got):\n%s", diff)
	}
}

func TestHelperIsAskedLastAndOnce(t *testing.T) {
	t.Parallel()
	env, log := withHelper(t, `echo "$4" >> "$LOG"; case "$4" in none*) echo '{}';; bad*) exit 1;; *) `+says+`;; esac`)
	write(t, filepath.Join(env.Home, ".tofurc"), helperBlock+credentials("file")+"credentials \"nothing.example.com\" {}\n", 0o600)
	env.Variables = append(env.Variables, "TF_TOKEN_env_example_com=env")
	config := load(t, env)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for host, want := range map[addrs.Hostname]string{
				host: "file", "nothing.example.com": "", "env.example.com": "env", "none.example.com": "", "other.example.com": canary,
			} {
				if got := tokenFor(t, config, host); got != want {
					t.Errorf("the token for %q is %q, want %q", host, got, want)
				}
			}
			if _, ok, err := config.Token(t.Context(), "bad.example.com"); ok || err == nil {
				t.Errorf("Token = %v, %v; want the helper's failure", ok, err)
			}
		})
	}
	group.Wait()
	if got := lines(t, log); len(got) != 3 {
		t.Errorf("the helper was asked about %q, want each of 3 hosts once", got)
	}
}

// TestHelperEnvironment checks that helpers get the whole environment, as from
// stock tools: a helper may print a token of the build server.
func TestHelperEnvironment(t *testing.T) {
	t.Parallel()
	env, log := withHelper(t, `env | sort > "$LOG"; echo "{\"token\": \"$CI_JOB_TOKEN\"}"`)
	env.Variables = []string{
		"AWS_PROFILE=ci", "CI_JOB_TOKEN=" + canary, "GITHUB_TOKEN=x", "MY_HOME=x", "PATH=/usr/bin:/bin", "TF_TOKEN_example_com=x", "https_proxy=http://p",
	}
	if got := tokenFor(t, load(t, env), host); got != canary {
		t.Errorf("the token is %q, want that of CI_JOB_TOKEN", got)
	}
	var got []string
	for _, entry := range lines(t, log) {
		// A shell adds some variables.
		if name, _, _ := strings.Cut(entry, "="); name != "PWD" && name != "SHLVL" && name != "_" && name != "OLDPWD" {
			got = append(got, entry)
		}
	}
	slices.Sort(got) // by bytes, which the shell's locale may not do
	if diff := cmp.Diff(env.Variables, got); diff != "" {
		t.Errorf("the helper's environment (-want +got):\n%s", diff)
	}
}

func TestHelperFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, want string }{
		"exit":        {"echo " + canary + "; echo " + canary + " >&2; exit 3", "exit status 3"},
		"no JSON":     {"echo " + canary, "not a JSON object"},
		"array":       {`echo '["` + canary + `"]'`, "not a JSON object"},
		"two objects": {says + "; " + says, "not a JSON object"},
		"nothing":     {"", "not a JSON object"},
		"too much":    {"while :; do echo " + strings.Repeat(canary, 100) + "; done", "printed too much"},
		"no program":  {"exec /nowhere/at/all", "exit status 127"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := withHelper(t, test.script)
			token, ok, err := load(t, env).Token(t.Context(), host)
			if ok || string(token) != "" || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("Token = %q, %v, %v; want an error with %q", string(token), ok, err, test.want)
			}
			if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "a b") {
				t.Errorf("the error has the helper's output or arguments: %v", err)
			}
		})
	}
}

func TestHelperSearch(t *testing.T) {
	t.Parallel()
	platform := plugins + runtime.GOOS + "_" + runtime.GOARCH + "/"
	tests := []struct {
		name, want string
		files      []string
		environ    []string
	}{
		{name: "by name", files: []string{plugins + "terraform-credentials-test"}, want: "terraform-credentials-test"},
		{name: "by platform", files: []string{platform + "terraform-credentials-test"}, want: "terraform-credentials-test"},
		{
			name:  "the newest",
			files: []string{plugins + "terraform-credentials-test", platform + "terraform-credentials-test_v0.10.0", plugins + "terraform-credentials-test_v0.9.0"},
			want:  "terraform-credentials-test_v0.10.0",
		},
		{name: "XDG", files: []string{"xdg/opentofu/plugins/terraform-credentials-test_v1.0.0"}, environ: []string{"XDG_DATA_HOME=HOME/xdg"}, want: "terraform-credentials-test_v1.0.0"},
		{name: "others", files: []string{plugins + "terraform-credentials-testing", plugins + "terraform-credentials-test_vx", "terraform-credentials-test"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := home(t, map[string]string{".tofurc": helperBlock, plugins + "terraform-credentials-test_v9.0.0": "not executable"})
			for _, name := range test.files {
				script(t, filepath.Join(dir, name), `echo "{\"token\": \"${0##*/}\"}"`)
			}
			env := cliconfig.Environment{Home: dir, Variables: []string{"PATH=/usr/bin:/bin:" + dir}}
			for _, entry := range test.environ {
				env.Variables = append(env.Variables, strings.ReplaceAll(entry, "HOME/", dir+"/"))
			}
			token, _, err := load(t, env).Token(t.Context(), host)
			if string(token) != test.want || (err == nil) != (test.want != "") {
				t.Errorf("Token = %q, %v; want that of %q", string(token), err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), "terraform-credentials-test") {
				t.Errorf("the error does not name the missing program: %v", err)
			}
		})
	}
}

// dockerHelper writes one of Docker's credential helpers, which logs the request and answers
// with its own name as the user.
func dockerHelper(t *testing.T, dir, name string) (log string) {
	t.Helper()
	return script(t, filepath.Join(dir, "bin", "docker-credential-"+name), `read server; echo "$* $server" >> "$LOG"
case "$server" in
https://bare.com) echo "unknown registry"; exit 1;;
https://nourl.com|*none.com) echo "credentials not found in native keychain"; exit 1;;
*broken.com) echo "`+canary+`"; exit 1;;
*text.com) echo "`+canary+`";;
*token.com) echo '{"ServerURL": "x", "Username": "<token>", "Secret": "R"}';;
*) echo '{"ServerURL": "x", "Username": "`+name+`", "Secret": "`+canary+`"}';;
esac`)
}

func TestOCIHelpers(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{
		".tofurc": `oci_credentials "block.com" { docker_credentials_helper = "block" }` + "\n" + basic("block.com/static", "static") +
			`oci_default_credentials { docker_credentials_helper = "default" }`,
		".docker/config.json": `{"auths": {"auth.com": {}, "cred.com/a": {"auth": "dTpj"}}, "credHelpers": {"cred.com": "cred", "block.com": "cred", "path.com/a": "cred"}, "credsStore": "store"}`,
	})
	logs := map[string]string{}
	for _, name := range []string{"block", "default", "cred", "store"} {
		logs[name] = dockerHelper(t, dir, name)
	}
	config := load(t, cliconfig.Environment{Home: dir, Variables: []string{"PATH=relative:" + dir + "/bin:/usr/bin:/bin"}})
	for repository, want := range map[string]string{
		"block.com/x":        "block",
		"block.com/static":   "static",
		"cred.com/x":         "cred",
		"CRED.com/x":         "cred",
		"cred.com/a":         "u with the password c",
		"auth.com/x":         "default",
		"path.com/a":         "default",
		"other.com:8443/x/y": "default",
		"none.com/x":         "",
		"token.com/x":        "access , refresh R",
		"bare.com/x":         "default",
		"nourl.com/x":        "default",
	} {
		host, path, _ := strings.Cut(repository, "/")
		got, err := config.OCICredentials(t.Context(), host, path)
		if err != nil || shown(got) != want {
			t.Errorf("OCICredentials(%q) = %q, %v; want %q", repository, shown(got), err, want)
		}
	}
	if diff := cmp.Diff([]string{"get https://block.com"}, lines(t, logs["block"])); diff != "" {
		t.Errorf("the helper was asked (-want +got):\n%s", diff)
	}
	for _, host := range []string{"broken.com", "text.com", "broken.com", "text.com"} {
		_, err := config.OCICredentials(t.Context(), host, "x")
		if err == nil || strings.Contains(err.Error(), canary) || !strings.Contains(err.Error(), host) {
			t.Errorf("OCICredentials(%q) = %v, want an error with the host, without the helper's output", host, err)
		}
	}
	asked := lines(t, logs["default"])
	slices.Sort(asked)
	if got := slices.Compact(slices.Clone(asked)); len(got) != len(asked) {
		t.Errorf("the helper was asked %q, want each host once", asked)
	}
}

func TestOCICredsStore(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{
		".config/containers/auth.json": auths(map[string]string{"r.com": "static"}),
		".docker/config.json":          `{"auths": {"auth.com": {}}, "credsStore": "store"}`,
	})
	dockerHelper(t, dir, "store")
	config := load(t, cliconfig.Environment{Home: dir, Variables: []string{"PATH=" + dir + "/bin:/usr/bin:/bin"}})
	for host, want := range map[string]string{"r.com": "static", "auth.com": "store", "other.com": "store"} {
		if got, err := config.OCICredentials(t.Context(), host, "x"); err != nil || shown(got) != want {
			t.Errorf("OCICredentials(%q) = %q, %v; want %q", host, shown(got), err, want)
		}
	}
}

func TestOCIHelperMissing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"missing", "../bin/docker-credential-x"} {
		dir := home(t, map[string]string{".docker/config.json": `{"credsStore": "` + name + `"}`})
		dockerHelper(t, dir, "x")
		config := load(t, cliconfig.Environment{Home: dir, Variables: []string{"PATH=" + dir + "/bin"}})
		if _, err := config.OCICredentials(t.Context(), "r.com", "x"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the helper %q: OCICredentials = %v, want an error with its name", name, err)
		}
	}
}
