package cliconfig_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/cliconfig"
)

// dockerHelper writes one of Docker's credential helpers, which logs the request and answers
// with its own name as the user.
func dockerHelper(t *testing.T, dir, name string) (log string) {
	t.Helper()
	return script(t, filepath.Join(dir, "bin", "docker-credential-"+name), `read server; echo "$* $server" >> "$LOG"
case "$server" in
*none.com) echo "credentials not found in native keychain"; exit 1;;
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

// TestOCIHelperEnvironment checks that Docker's helpers get the whole environment
// too.
func TestOCIHelperEnvironment(t *testing.T) {
	t.Parallel()
	dir := home(t, map[string]string{".docker/config.json": `{"credsStore": "ci"}`})
	script(t, filepath.Join(dir, "bin", "docker-credential-ci"), `echo "{\"Username\": \"job\", \"Secret\": \"$CI_JOB_TOKEN\"}"`)
	config := load(t, cliconfig.Environment{Home: dir, Variables: []string{"PATH=" + dir + "/bin:/usr/bin:/bin", "CI_JOB_TOKEN=" + canary}})
	got, err := config.OCICredentials(t.Context(), "r.com", "x")
	if err != nil || got.Username != "job" || got.Password != canary {
		t.Errorf("OCICredentials = %q, %v; want the user job with the token of CI_JOB_TOKEN", shown(got), err)
	}
}
