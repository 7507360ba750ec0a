package installer_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/policy"
)

// elsewhere is another name of the world's servers, which redirects point to.
const elsewhere = "localhost"

// redirects has a redirect for each transport: the call, and the prefix of the paths that are
// redirected to elsewhere. Without a call, the project requires a provider.
var redirects = []struct {
	name, call, path string
	backend          getmodules.GitBackend
	hosted           bool
}{
	{name: "archive", call: `source = "https://HOST/archives/a.zip"`, path: "/archives/"},
	{name: "git in this process", call: `source = "git::https://HOST/git/net.git?ref=v1.0.0"`, path: "/git/"},
	{name: "git versions in this process", call: `source = "git::https://HOST/git/net.git?version=~>1.0"`, path: "/git/"},
	{name: "git program", call: `source = "git::https://HOST/git/net.git?ref=v1.0.0"`, path: "/git/", backend: getmodules.GitInstalled},
	{name: "git versions by the program", call: `source = "git::https://HOST/git/net.git?version=~>1.0"`, path: "/git/", backend: getmodules.GitInstalled},
	{name: "built-in git", call: `source = "git::https://HOST/git/net.git?ref=v1.0.0"`, path: "/git/", backend: getmodules.GitBuiltIn},
	{name: "OCI manifest", call: `source = "oci://HOST/net?tag=1.0.0"`, path: "/v2/net/manifests/"},
	{name: "OCI blob", call: `source = "oci://HOST/net?tag=1.0.0"`, path: "/v2/net/blobs/"},
	{name: "OCI tags", call: `source = "oci://HOST/net?version=~>1.0"`, path: "/v2/net/tags/"},
	{name: "discovery", call: "source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\"", path: "/.well-known/"},
	{name: "registry versions", call: "source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\"", path: "/v1/modules/acme/net/aws/versions"},
	{name: "registry location", call: "source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\"", path: "/v1/modules/acme/net/aws/1.0.0/download"},
	{name: "repository of a registry", call: "source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\"", path: "/git/registry/"},
	{name: "package of a registry", call: "source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\"", path: "/packages/", hosted: true},
	{name: "provider discovery", path: "/.well-known/"},
	{name: "provider versions", path: "/v1/providers/acme/cloud/versions"},
	{name: "provider location", path: "/v1/providers/acme/cloud/1.0.0/download/"},
	{name: "provider archive", path: "/providers/"},
}

func newRedirectWorld(t *testing.T, hosted bool) *providerWorld {
	t.Helper()
	return newProviderWorld(t, reachWorld, modtest.Options{Hosted: hosted})
}

func (w *providerWorld) install(t *testing.T, in *installer.Installer, call string, rules ...*policy.Policy) error {
	t.Helper()
	req := request{Project: installer.Project{Policies: rules}}
	text := "module \"m\" {\n" + call + "\n}\n"
	if call == "" {
		text, req.Scope = required(`cloud = { source = "HOST/acme/cloud" }`), installer.ScopeAll
	}
	req.Dir = w.project(t, map[string]string{"main.tf": text})
	_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
	return err
}

func (w *providerWorld) requestsTo(host string) (paths []string) {
	for _, r := range w.Requests() {
		if strings.HasPrefix(r.Host, host+":") {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

func patterns(t *testing.T, texts ...string) (list []policy.Pattern) {
	t.Helper()
	for _, text := range texts {
		p, err := policy.ParsePattern(text)
		testenv.Must(t, err)
		list = append(list, p)
	}
	return list
}

// A redirect to a host that a policy denies is not followed, and the host gets no request. A list of
// allowed sources does not apply to redirects.
//
// Projects with different policies can share a session, a fetcher and a cache. None of them gets an
// answer or a package that came through a redirect that its policy denies, and none of them fails
// because of the policy of another one.
func TestRedirectsUnderPolicy(t *testing.T) {
	t.Parallel()
	for _, test := range redirects {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("git"); test.backend == getmodules.GitInstalled && err != nil {
				t.Skip("git is not installed")
			}
			w := newRedirectWorld(t, test.hosted)
			w.SetFaults(modtest.Fault{Path: test.path, RedirectHost: elsewhere})
			deny, allow := &policy.Policy{}, &policy.Policy{}
			if test.call == "" {
				deny.DenyProviders, allow.AllowProviders, allow.Deny = patterns(t, elsewhere), patterns(t, string(w.Host())), patterns(t, elsewhere)
			} else {
				deny.Deny, allow.Allow, allow.DenyProviders = patterns(t, elsewhere), patterns(t, string(w.Host())), patterns(t, elsewhere)
			}
			first := w.Installer()
			for name, share := range map[string]bool{"a session": true, "a cache": false} {
				next := func() *installer.Installer {
					in := with(w.Installer(), func(o *installer.Options) {
						o.CacheDir, o.StateDir = first.Options().CacheDir, first.Options().StateDir
					})
					fetcher := in.Options().Fetcher.(*getmodules.Fetcher)
					fetcher.GitBackend, fetcher.CacheDir = test.backend, first.Options().Fetcher.(*getmodules.Fetcher).CacheDir
					return in
				}
				if share {
					in, done, err := installerinternal.Share(next())
					testenv.Must(t, err)
					defer done()
					next = func() *installer.Installer { return in }
				}
				for _, denied := range []bool{true, false, true, false} {
					rules := []*policy.Policy{allow}
					if denied {
						rules = append(rules, deny)
					}
					asked := len(w.requestsTo(elsewhere))
					err := w.install(t, next(), test.call, rules...)
					violation, ok := errors.AsType[*policy.Violation](err)
					if ok != denied || !denied && err != nil || ok && (!strings.HasPrefix(violation.Argument, "deny_") || !strings.Contains(violation.Reason, elsewhere)) {
						t.Errorf("sharing %s, denied %v: Install = %v", name, denied, err)
					}
					if more := w.requestsTo(elsewhere)[asked:]; denied && len(more) > 0 {
						t.Errorf("sharing %s: the denied host was asked for %q", name, more)
					}
				}
			}
			if asked := w.requestsTo(elsewhere); len(asked) == 0 {
				t.Errorf("without the rule, %s was not asked: the test shows nothing", elsewhere)
			}
		})
	}
}

// However a call or a rule spells a host, the rule applies, and the request is sent to the host that
// the rule was compared with.
func TestSpellingsOfHosts(t *testing.T) {
	t.Parallel()
	w := newRedirectWorld(t, false)
	port := strings.TrimPrefix(string(w.Host()), "127.0.0.1")
	for _, source := range []string{
		`source = "https://HOST/archives/a.zip"`,
		`source = "git::https://HOST/git/net.git?ref=v1.0.0"`,
		`source = "oci://HOST/net?tag=1.0.0"`,
		"source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\"",
	} {
		for _, spelling := range []string{"127.1", "0x7f.1", "0177.0.0.1", "2130706433", "127.0.0.1."} {
			isRegistry := strings.HasPrefix(source, `source = "HOST`)
			if isRegistry && !strings.Contains(strings.TrimSuffix(spelling, "."), ".") || spelling == "127.0.0.1." && strings.Contains(source, "oci:") {
				continue // not the address of a registry
			}
			call := strings.ReplaceAll(source, "HOST", spelling+port)
			w.ResetRequests()
			err := w.install(t, w.Installer(), call, &policy.Policy{Deny: patterns(t, "127.0.0.1")})
			if violation, ok := errors.AsType[*policy.Violation](err); !ok || violation.Argument != "deny_sources" {
				t.Errorf("%s: Install = %v, want a violation of deny_sources", call, err)
			}
			if asked := w.Requests(); len(asked) > 0 {
				t.Errorf("%s: a denied host was asked: %v", call, asked)
			}
			if err := w.install(t, w.Installer(), call, &policy.Policy{Allow: patterns(t, "0x7f000001"+port), Deny: patterns(t, "0x7f.2")}); err != nil {
				t.Errorf("%s: %v", call, err)
			}
			for _, r := range w.Requests() {
				if r.Host != string(w.Host()) {
					t.Errorf("%s: a request was sent to %q", call, r.Host)
				}
			}
		}
	}
}
