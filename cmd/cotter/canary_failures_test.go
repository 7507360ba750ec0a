package main

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// everywhere returns a fault that applies to all servers.
func everywhere(f modtest.Fault) []modtest.Fault { return []modtest.Fault{f} }

func failures() []failure {
	return append(append(serverFailures(), clientFailures()...), machineFailures()...)
}

// withoutGit returns the configuration without git and hg, which take most of the time. It
// is for failures that have nothing to do with them.
func withoutGit() string { return canariesWithout("git_", "hg_") }

// canariesWithout returns the configuration without the addresses whose names begin with one
// of these prefixes.
func canariesWithout(prefixes ...string) string {
	names := slices.Collect(maps.Keys(addressesWithCanaries))
	return canaryConfig(slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	})...)
}

func serverFailures() []failure {
	token := modtest.Options{Token: canaries()[34].value, OCIUser: "user", OCIPassword: canaries()[41].value}
	lead := func(status int, location string) []modtest.Fault {
		return []modtest.Fault{
			{Path: "/archives/", Status: status, Header: http.Header{"Location": {location}}},
			{Path: "/git/", Status: status, Header: http.Header{"Location": {location}}},
			{Path: "/v1/", Status: status, Header: http.Header{"Location": {location}}},
			{Path: "/v2/", Status: status, Header: http.Header{"Location": {location}}},
			{Path: "/files/", Status: status, Header: http.Header{"Location": {location}}},
		}
	}
	header := func(location string) []modtest.Fault {
		return append([]modtest.Fault{{Path: "/files/", Header: http.Header{"X-Terraform-Get": {location}}}},
			modtest.Fault{Path: "/v1/modules/acme/net/aws/1.0.0/", Status: 204, Header: http.Header{"X-Terraform-Get": {location}}})
	}
	query, signed := canaries()[30].value, canaries()[32].value
	return []failure{
		{name: "all is well but for some", config: canaryConfig(), says: "connection refused"},
		{name: "token: registry wants another token", config: withoutGit(), options: modtest.Options{Token: "other"}, says: "401"},
		{name: "token: registry has the token", config: withoutGit(), options: token},
		{name: "token: token services", config: withoutGit(), options: modtest.Options{OCIUser: "user", OCIPassword: canaries()[41].value, OCIBearer: true}},
		{name: "answer: 401", faults: everywhere(modtest.Fault{Status: 401, Body: "no"}), says: "401"},
		{name: "answer: 401 with challenge", config: withoutGit(), faults: everywhere(modtest.Fault{Status: 401, Header: http.Header{"Www-Authenticate": {`Basic realm="x"`}}}), says: "401"},
		{name: "answer: 401 of git", faults: []modtest.Fault{{Path: "/git/", Status: 401, Header: http.Header{"Www-Authenticate": {`Basic realm="x"`}}}}, says: "requires credentials, and git has none that it accepts|authentication failed"},
		{name: "answer: 403", config: withoutGit(), faults: everywhere(modtest.Fault{Status: 403}), says: "403"},
		{name: "answer: 403 that repeats the token", config: withoutGit(), faults: []modtest.Fault{{Path: "/v1/", Status: 403, Body: "the token " + canaries()[34].value + " is not allowed"}}, says: "the token"},
		{name: "answer: 404", faults: everywhere(modtest.Fault{Status: 404}), says: "404"},
		{name: "answer: 501", config: withoutGit(), faults: everywhere(modtest.Fault{Status: 501}), says: "501"},
		{name: "answer: 418 with escapes", config: withoutGit(), faults: everywhere(modtest.Fault{Status: 418, Body: "\x1b[2J"}), says: "418"},
		{name: "answer: HTML", config: withoutGit(), faults: everywhere(modtest.Fault{Status: 200, Body: "<html>sign in</html>"}), says: "HTML"},
		{name: "answer: empty", config: withoutGit(), faults: everywhere(modtest.Fault{Status: 200}), says: "empty"},
		{name: "answer: bad archive", config: withoutGit(), faults: []modtest.Fault{{Path: "/archives/", Status: 200, Body: "PK\x03\x04"}, {Path: "/v2/acme/net/blobs/", Status: 200, Body: "PK"}}, says: "damaged"},
		{name: "answer: bad JSON", config: withoutGit(), faults: []modtest.Fault{{Path: "/v1/", Status: 200, Body: `{"modules":[{"versions":[{"version":` + query}}, says: "JSON"},
		{name: "answer: bad discovery", config: withoutGit(), faults: []modtest.Fault{{Path: "/.well-known/", Status: 200, Body: `{"modules.v1":"https://u:` + query + `@h/"}`, Header: http.Header{"Content-Type": {"application/json"}}}}},
		{name: "redirect: to http", faults: lead(302, "http://u:"+query+"@192.0.2.1/x.zip?token="+signed), says: "redirect"},
		{name: "redirect: to a file", config: withoutGit(), faults: lead(307, "file:///etc/passwd?token="+signed), says: "redirect"},
		{name: "redirect: elsewhere", faults: lead(301, "https://u:"+query+"@127.0.0.1:1/x.zip?X-Amz-Signature="+signed)},
		{name: "redirect: in circles", config: withoutGit(), faults: lead(308, "/archives/x.zip?token="+signed), says: "redirect"},
		{name: "redirect: malformed", faults: lead(303, "https://u:"+query+"@h h/?"+signed), says: "redirect"},
		{name: "redirect: in a malformed header", config: withoutGit(), faults: lead(302, "https://u:"+query+"@h.example/\x01?token="+signed), says: "malformed"},
		{name: "redirect: location in a malformed header", config: withoutGit(), faults: header("https://u:" + query + "@h.example/\x01x.zip?token=" + signed), says: "malformed"},
		{name: "redirect: location at a file", config: withoutGit(), faults: header("file:///x?token=" + query), says: "points to"},
		{name: "redirect: location with a user", config: withoutGit(), faults: header("git::https://u:" + query + "@MODTEST_HOST/git/none.git?token=" + signed)},
		{name: "redirect: location with a signature", config: withoutGit(), faults: header("https://MODTEST_HOST/archives/none.zip?X-Amz-Signature=" + signed), says: "404"},
		{name: "redirect: location malformed", config: withoutGit(), faults: header("https://u:" + query + "@h h/x.zip?" + signed)},
	}
}

// clientFailures returns the failures that are caused by the project.
func clientFailures() []failure {
	lock := func(text string) func(*testing.T, *victim) {
		return func(t *testing.T, v *victim) { v.plant(t, filepath.Join(v.project, ".terraform.lock.hcl"), text) }
	}
	const entry = "module \"http_query\" {\n  source  = \"https://HOST/archives/x.zip\"\n  package = \"https://HOST/archives/x.zip\"\n  hashes  = [\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n}\n"
	return []failure{
		{name: "lock: mismatch", config: canaryConfig("http_query"), setup: lock(entry), says: "checksum verification failed"},
		{name: "lock: of another source", config: canaryConfig("http_query"), setup: lock(entry), args: []string{"install", "--locked", "--offline"}},
		{name: "lock: locked without a lock", args: []string{"install", "--locked"}, says: "There is no .terraform.lock.hcl.|the lock has no entry"},
		{name: "lock: with a password", setup: lock("module \"a\" {\n  source = \"https://u:{http-password}@h/x.zip\"\n  hashes = [\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n}\n"), says: "Credentials in lock file"},
		{name: "lock: that does not parse", setup: lock("module \"a\" { {http-password}"), says: ".terraform.lock.hcl"},
		{name: "command: offline", args: []string{"install", "--offline"}, says: "neither installed nor in the cache|offline mode is set"},
		{name: "address: no such subdirectory", config: "module \"a\" {\n  source = \"https://user:{http-password}@HOST/archives/x.zip//none?token={http-query}\"\n}\n", says: "none"},
		{name: "address: checksum", config: "module \"a\" {\n  source = \"https://user:{http-password}@HOST/archives/x.zip?checksum=md5:00000000000000000000000000000000&token={http-query}\"\n}\n", says: "checksum"},
		{name: "address: no version", config: "module \"a\" {\n  source  = \"git::https://user:{git-range}@HOST/git/net.git\"\n  version = \"9.9.9\"\n}\n", says: "9.9.9"},
		{name: "address: two versions", config: "module \"a\" {\n  source  = \"git::https://user:{git-range}@HOST/git/net.git?version=1.0.0&token={git-query}\"\n  version = \"1.0.0\"\n}\n", says: "two version arguments"},
		{name: "address: version of an archive", config: "module \"a\" {\n  source  = \"https://user:{http-password}@HOST/archives/x.zip?token={http-query}\"\n  version = \"1.0.0\"\n}\n"},
		{name: "address: invalid ref", config: "module \"a\" {\n  source = \"git::https://user:{git-password}@HOST/git/net.git?token={git-query}&ref=-x\"\n}\n", says: "cannot be a git ref"},
		{name: "address: bad escape", config: "module \"a\" {\n  source = \"https://user:{http-password}%zz@HOST/archives/x.zip?token={http-query}\"\n}\n"},
		{name: "address: bad port", config: "module \"a\" {\n  source = \"https://user:{http-password}@HOST:x/archives/x.zip?token={http-query}\"\n}\n"},
		{name: "address: configuration that does not parse", config: "module \"a\" {\n  source = \"https://user:{http-password}@HOST/x.zip\n}\n", says: "main.tf"},
		{name: "command: tree", args: []string{"tree"}}, {name: "command: tree html", args: []string{"tree", "--format", "html"}}, {name: "command: tree KEY", args: []string{"tree", "--json", "--evidence", "http_password"}},
		{name: "command: outdated", args: []string{"outdated"}}, {name: "command: verify", args: []string{"verify"}}, {name: "command: update", config: withoutGit(), args: []string{"update", "http_password"}},
		{
			name: "nothing is wrong", succeeds: true,
			config: canaryConfig("git_password", "git_token", "git_escaped", "git_range", "http_password", "http_token", "http_escaped", "http_query", "http_signature", "http_page", "registry", "git_header", "git_instead"),
		},
	}
}

// machineFailures returns the failures that are caused by installed programs and by the
// network.
func machineFailures() []failure {
	const sources = "git_password"
	return []failure{
		{name: "setting: key of the state", config: withoutGit(), env: []string{"COTTER_STATE_KEY={state-key}"}},
		{name: "setting: untrusted certificate", untrusted: true, says: "certificate"},
		{name: "interrupt", config: canaryConfig(), interrupt: true, faults: everywhere(modtest.Fault{Delay: 1 << 40})},
		{name: "setting: proxy", env: []string{"HTTPS_PROXY=http://user:{proxy}@127.0.0.1:1", "https_proxy=http://user:{proxy}@127.0.0.1:1", "NO_PROXY=", "no_proxy="}, config: "module \"a\" {\n  source = \"https://user:{http-password}@192.0.2.1/x.zip?token={http-query}\"\n}\nmodule \"b\" {\n  source = \"git::https://user:{git-password}@192.0.2.1/x.git\"\n}\n", says: "127.0.0.1"},
		{name: "setting: malformed proxy", env: []string{"HTTPS_PROXY=http://user:{proxy}@127.0.0.1:99999", "https_proxy=http://user:{proxy}@127.0.0.1:99999", "NO_PROXY=", "no_proxy="}, config: "module \"a\" {\n  source = \"https://192.0.2.1/x.zip\"\n}\n"},
		{name: "setting: helper that fails", setup: func(t *testing.T, v *victim) {
			v.plant(t, filepath.Join(v.home, ".terraform.d/plugins/terraform-credentials-test"), "#!/bin/sh\necho {helper}\necho {helper} >&2\nexit 1\n")
		}, config: "module \"a\" {\n  source = \"127.0.0.1:5/a/b/c\"\n}\n"},
		{name: "setting: token with a line break", env: []string{"TF_TOKEN_127.0.0.1:3={variable}\n{variable-other}"}, config: "module \"a\" {\n  source = \"127.0.0.1:3/a/b/c\"\n}\n"},
		{name: "setting: CLI configuration that does not parse", setup: func(t *testing.T, v *victim) {
			v.plant(t, filepath.Join(v.home, ".tofurc"), "credentials \"HOST\" {\n  token = {block} \"\n}\n")
		}, says: ".tofurc"},
		{name: "setting: CLI configuration in JSON that does not parse", config: withoutGit(), setup: func(t *testing.T, v *victim) {
			v.plant(t, filepath.Join(v.home, ".terraform.d/credentials.tfrc.json"), `{"credentials": {"127.0.0.1:4": {"token": "{login}"`)
		}},
		{name: "git: that repeats what it knows", config: canaryConfig("git_password", "git_token", "git_name", "git_escaped"), env: []string{"COTTER_GIT_BACKEND=git"}, git: `case "$*" in *" config --list"*);; *fetch*|*ls-remote*)
  for a in "$@"; do case "$a" in include.path=*) sed 's/^/fatal: /' "${a#include.path=}" >&2; sed 's/^/fatal: /' "$(dirname "${a#include.path=}")/credentials" >&2;; esac; done
  exit 128;; esac`, says: "fatal"},
		{name: "git: that is no git", config: canaryConfig(sources), git: "echo nonsense\nexit 0"},
		{name: "git: that fails", config: canaryConfig(sources, "git_query", "git_sshkey"), git: "echo \"fatal: $*\" >&2\nexit 3"},
		{name: "git: no git", config: canaryConfig(sources, "git_sshkey"), env: []string{"PATH=/nonexistent"}, says: "git"},
		{name: "setting: no room for a cache", config: withoutGit(), setup: func(t *testing.T, v *victim) {
			testenv.Must(t, os.WriteFile(v.cache, nil, 0o600))
		}},
		{name: "setting: project that is read-only", setup: func(t *testing.T, v *victim) {
			v.plant(t, filepath.Join(v.project, ".terraform"), "a file")
		}},
	}
}
