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

// withHelper returns an environment whose helper runs a script, and the script's
// log.
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
