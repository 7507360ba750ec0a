package installer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// reachWorld has what a package must not point to, if the package is from elsewhere.
const reachWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
-- git/net.git/v1.0.0/main.tf --
-- archives/a.zip/main.tf --
-- oci/net/1.0.0/main.tf --
-- providers/acme/cloud/1.0.0/PLATFORM/terraform-provider-cloud --
-- providers/acme/other/1.0.0/PLATFORM/terraform-provider-other --
`

// newReachWorld returns the world, with providers for this machine's platform.
func newReachWorld(t *testing.T) *modtest.World {
	t.Helper()
	return modtest.New(t, modtest.Txtar(strings.ReplaceAll(reachWorld, "PLATFORM", addrs.CurrentPlatform().String())))
}

// callers are the hosts of a package: one is elsewhere, judging by its name, and one is this machine.
const (
	callerElsewhere = "https://mods.example.com"
	callerHere      = "https://HOST"
)

func publishCaller(t *testing.T, w *modtest.World, call string) {
	t.Helper()
	publishPackage(t, w, "module \"nested\" {\n"+call+"\n}\n")
}

// publishPackage publishes an archive, caller.zip, with one file.
func publishPackage(t *testing.T, w *modtest.World, text string) {
	t.Helper()
	testenv.Must(t, w.PublishArchive("caller.zip", fstest.MapFS{"main.tf": {Data: []byte(text)}}))
}

func callTo(host string) string {
	return fmt.Sprintf("module \"caller\" {\n  source = %q\n}\n", host+"/archives/caller.zip")
}

// here replaces the placeholders of a text.
func here(w *modtest.World, text string) string {
	plain := strings.TrimPrefix(w.PlainURL(), "http://")
	return strings.NewReplacer("HOST", string(w.Host()), "PLAIN", plain, "PORT", strings.TrimPrefix(string(w.Host()), "127.0.0.1:")).Replace(text)
}

// requestsHere returns the requests to this machine by its own names.
func requestsHere(w *modtest.World) (list []string) {
	for _, r := range w.Requests() {
		if !strings.HasSuffix(r.Host, "example.com") {
			list = append(list, r.Host+" "+r.String())
		}
	}
	return list
}

// A package from elsewhere must not point to this machine or to a metadata service, by any kind of
// address. A package from this machine may.
func TestPackagesPointNoFurtherThanServers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		call string
		// always says that packages of this machine are not tried: they are refused as well, or the
		// world has no such server.
		always bool
	}{
		"archive":                {call: `source = "https://HOST/archives/a.zip"`},
		"archive by name":        {call: `source = "https://localhost:PORT/archives/a.zip"`},
		"archive by number":      {call: `source = "https://2130706433:PORT/archives/a.zip"`},
		"archive by http":        {call: `source = "http://PLAIN/archives/a.zip"`},
		"checksums":              {call: `source = "https://mods.example.com/archives/a.zip?checksum=file:https://HOST/sums"`, always: true},
		"git":                    {call: `source = "git::https://HOST/git/net.git?ref=v1.0.0"`},
		"git versions":           {call: `source = "git::https://HOST/git/net.git?version=~>1.0"`},
		"OCI":                    {call: `source = "oci://HOST/net?tag=1.0.0"`},
		"OCI versions":           {call: `source = "oci://HOST/net?version=~>1.0"`},
		"registry":               {call: "source = \"HOST/acme/net/aws\"\nversion = \"1.0.0\""},
		"registry with versions": {call: "source = \"HOST/acme/net/aws\"\nversion = \"~> 1.0\""},
		"ssh":                    {call: `source = "git::ssh://git@127.0.0.1:1/net.git"`, always: true},
		"git daemon":             {call: `source = "git::git://127.0.0.1:1/net.git"`, always: true},
		"Mercurial":              {call: `source = "hg::http://127.0.0.1:1/net"`, always: true},
		"S3":                     {call: `source = "s3::https://127.0.0.1:1/bucket/key"`, always: true},
		"metadata":               {call: `source = "https://169.254.169.254/a.zip"`, always: true},
		"metadata in IPv6":       {call: `source = "https://[fd00:ec2::254]/a.zip"`, always: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newReachWorld(t)
			publishCaller(t, w, here(w, test.call))
			install := func(host string) error {
				_, err := w.Installer().Install(t.Context(), installer.Project{Dir: writeProject(t, map[string]string{"main.tf": callTo(here(w, host))}, "")}, installer.InstallOptions{})
				return err
			}
			err := install(callerElsewhere)
			refused, ok := errors.AsType[*httpx.ReachError](err)
			if !ok || !errors.Is(err, getmodules.ErrRefusedLocation) || refused.From != callerElsewhere {
				t.Errorf("Install = %v, want a *httpx.ReachError from %s", err, callerElsewhere)
			}
			var module *installer.ModuleError
			if !errors.As(err, &module) || module.Path.String() != "caller.nested" || module.Range.Start.Line != 2 {
				t.Errorf("Install = %v, want an error about the nested call", err)
			}
			if asked := requestsHere(w); len(asked) > 0 {
				t.Errorf("this machine got the requests %q", asked)
			}
			if test.always {
				return
			}
			if err := install(callerHere); err != nil {
				t.Errorf("a package of this machine: Install = %v", err)
			}
			if len(requestsHere(w)) == 0 {
				t.Error("a package of this machine sent no request: the test shows nothing")
			}
		})
	}
}

// A package may point to a host and port that the project's own modules name, wherever the call is, or
// that the user names. Metadata services may only be named by the user.
func TestHostsThatTheProjectNames(t *testing.T) {
	t.Parallel()
	const nested = `source = "https://HOST/archives/a.zip"`
	own := func(source string) string { return fmt.Sprintf("module \"own\" {\n  source = %q\n}\n", source) }
	for name, test := range map[string]struct {
		files   map[string]string
		local   []string
		nested  string
		refused bool
	}{
		"nobody":                {files: map[string]string{}, refused: true},
		"the root module":       {files: map[string]string{"own.tf": own("https://HOST/archives/a.zip")}},
		"the root module later": {files: map[string]string{"zz.tf": own("git::https://HOST/git/net.git?ref=v1.0.0")}},
		"a registry address":    {files: map[string]string{"own.tf": "module \"own\" {\nsource = \"HOST/acme/net/aws\"\n}\n"}},
		"a local module":        {files: map[string]string{"own.tf": own("./a"), "a/main.tf": own("./b"), "a/b/main.tf": own("https://HOST/archives/a.zip")}},
		"another port":          {files: map[string]string{"own.tf": own("http://PLAIN/archives/a.zip")}, refused: true},
		"another name":          {files: map[string]string{"own.tf": own("https://localhost:PORT/archives/a.zip")}, refused: true},
		"the user":              {local: []string{"HOST"}},
		"the user, another":     {local: []string{"127.0.0.1"}, refused: true},
		"metadata":              {files: map[string]string{"own.tf": own("https://169.254.169.254/a.zip")}, nested: `source = "https://169.254.169.254/b.zip"`, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newReachWorld(t)
			publishCaller(t, w, here(w, cmp.Or(test.nested, nested)))
			files := map[string]string{"main.tf": callTo(callerElsewhere)}
			for name, text := range test.files {
				files[name] = here(w, text)
			}
			in := w.Installer()
			for _, host := range test.local {
				in = with(in, func(o *installer.Options) { o.LocalHosts = append(o.LocalHosts, here(w, host)) })
			}
			_, err := in.Install(t.Context(), installer.Project{Dir: writeProject(t, files, "")}, installer.InstallOptions{})
			refused, ok := errors.AsType[*httpx.ReachError](err)
			if ok != test.refused || !test.refused && err != nil {
				t.Errorf("Install = %v, %v, want refused: %v", err, refused, test.refused)
			}
		})
	}
}

func requires(source string) string {
	return fmt.Sprintf("terraform {\n  required_providers {\n    x = {\n      source = %q\n    }\n  }\n}\n", source)
}

// The same rule holds for the registries of the providers that packages require. The project's own
// requirements name a registry, too. What the user has configured may be anywhere.
func TestProvidersOfPackagesPointNoFurtherThanServers(t *testing.T) {
	t.Parallel()
	const cloud = "HOST/acme/cloud"
	for name, test := range map[string]struct {
		source  string // cloud if it is ""
		caller  string // callerElsewhere if it is ""
		files   map[string]string
		setup   func(*testing.T, *modtest.World, *installer.Options)
		refused bool
	}{
		"only the package":    {refused: true},
		"by name":             {source: "localhost:PORT/acme/cloud", refused: true},
		"metadata":            {source: "169.254.169.254/acme/x", refused: true},
		"the root module":     {files: map[string]string{"zz.tf": requires(cloud)}},
		"another provider":    {files: map[string]string{"zz.tf": requires("HOST/acme/other")}},
		"a local module":      {files: map[string]string{"zz.tf": "module \"own\" {\n  source = \"./a\"\n}\n", "a/main.tf": requires(cloud)}},
		"a call":              {files: map[string]string{"zz.tf": "module \"own\" {\n  source = \"https://HOST/archives/a.zip\"\n}\n"}},
		"a package from here": {caller: callerHere},
		"the user": {setup: func(_ *testing.T, w *modtest.World, o *installer.Options) {
			o.LocalHosts = []string{string(w.Host())}
		}},
		"a host block": {source: "registry.example.com/acme/cloud", setup: func(_ *testing.T, w *modtest.World, o *installer.Options) {
			services := map[addrs.Hostname]map[string]any{"registry.example.com": {"providers.v1": w.URL() + "/v1/providers/"}}
			withServices := installer.New(installer.Options{HTTPClient: w.HTTPClient(), Services: services}).Options()
			o.Registry, o.Providers, o.LocalHosts = withServices.Registry, withServices.Providers, withServices.LocalHosts
		}},
		"a network mirror": {setup: func(t *testing.T, w *modtest.World, o *installer.Options) {
			at, err := url.Parse(w.ProviderMirrorURL())
			testenv.Must(t, err)
			o.Providers = &getproviders.NetworkMirror{URL: at, HTTPClient: w.HTTPClient()}
		}},
		"an OCI mirror": {setup: func(t *testing.T, w *modtest.World, o *installer.Options) {
			testenv.Must(t, w.PushOCIProvider("acme-cloud", "acme/cloud", "1.0.0"))
			at, err := getproviders.ParseRepositoryTemplate(here(w, "HOST/acme-cloud"))
			testenv.Must(t, err)
			o.Providers = &getproviders.OCIMirror{Repository: at, Fetcher: &getmodules.Fetcher{HTTPClient: w.HTTPClient()}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newReachWorld(t)
			source := here(w, cmp.Or(test.source, cloud))
			publishPackage(t, w, requires(source))
			files := map[string]string{"main.tf": callTo(here(w, cmp.Or(test.caller, callerElsewhere)))}
			for name, text := range test.files {
				files[name] = here(w, text)
			}
			in := w.Installer()
			if test.setup != nil {
				in = with(in, func(o *installer.Options) { test.setup(t, w, o) })
			}
			_, err := in.Install(t.Context(), installer.Project{Dir: writeProject(t, files, "")}, installer.InstallOptions{Scope: installer.ScopeAll})
			if !test.refused {
				if err != nil {
					t.Errorf("Install = %v", err)
				}
				return
			}
			refused, ok := errors.AsType[*httpx.ReachError](err)
			if !ok || refused.From != callerElsewhere {
				t.Errorf("Install = %v, want a *httpx.ReachError from %s", err, callerElsewhere)
			}
			var provider *installer.ProviderError
			if !errors.As(err, &provider) || provider.Provider.Hostname.ForDisplay() != strings.Split(source, "/")[0] {
				t.Errorf("Install = %v, want an error about the provider", err)
			}
			if asked := requestsHere(w); len(asked) > 0 {
				t.Errorf("this machine got the requests %q", asked)
			}
		})
	}
}

// An entry in the lock does not open a registry to packages, in any run that asks it.
func TestLockedProvidersOfPackages(t *testing.T) {
	t.Parallel()
	w := newReachWorld(t)
	publishPackage(t, w, requires(here(w, "HOST/acme/cloud")))
	dir := writeProject(t, map[string]string{"main.tf": callTo(callerElsewhere), "own.tf": requires(here(w, "HOST/acme/cloud"))}, "")
	archive := func(ctx context.Context, p installerinternal.LockedProvider) error {
		got, err := p.Archive(ctx)
		if err == nil {
			err = got.Close()
		}
		return err
	}
	runs := map[string]func() error{
		"install": func() error {
			_, err := w.Installer().Install(t.Context(), installer.Project{Dir: dir}, installer.InstallOptions{Scope: installer.ScopeAll})
			return err
		},
		"providers alone": func() error {
			_, err := installProviders(t.Context(), w.Installer(), request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}})
			return err
		},
		"outdated": func() error {
			_, err := outdatedProviders(t.Context(), w.Installer(), request{Project: installer.Project{Dir: dir}})
			return err
		},
		"verify": func() error {
			report, err := w.Installer().VerifyRemote(t.Context(), installer.Project{Dir: dir}, installer.OriginOptions{Scope: installer.ScopeAll})
			if err != nil {
				return err
			}
			return report.Providers[0].Err
		},
		"publish": func() error {
			return installerinternal.LockedPackages(t.Context(), w.Installer(), projects(dir), installer.LockedOptions{Scope: installer.ScopeAll}, installerinternal.LockedFuncs{Provider: archive})
		},
	}
	runs["publish providers"] = func() error {
		return installerinternal.LockedPackages(t.Context(), w.Installer(), projects(dir), installer.LockedOptions{Scope: installer.ScopeProviders}, installerinternal.LockedFuncs{Provider: archive})
	}
	for _, name := range []string{"install", "providers alone", "outdated", "verify", "publish", "publish providers"} {
		if err := runs[name](); err != nil {
			t.Errorf("%s, and the root module requires the provider: %v", name, err)
		}
	}
	testenv.Must(t, os.Remove(filepath.Join(dir, "own.tf")))
	for _, state := range []string{"installed", "a fresh checkout"} {
		w.ResetRequests()
		for name, run := range runs {
			err := run()
			if _, ok := errors.AsType[*httpx.ReachError](err); !ok && !(state != "installed" && errors.Is(err, installer.ErrNotInstalled)) {
				t.Errorf("%s, %s: %v, want a *httpx.ReachError", name, state, err)
			}
		}
		if asked := requestsHere(w); len(asked) > 0 {
			t.Errorf("%s: this machine got the requests %q", state, asked)
		}
		testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform")))
	}
}

// Projects of one pool do not get each other's answers: neither the refusal nor the package.
func TestHostsThatAnotherProjectNames(t *testing.T) {
	t.Parallel()
	w := newReachWorld(t)
	publishCaller(t, w, here(w, `source = "https://HOST/archives/a.zip"`))
	alone := map[string]string{"main.tf": callTo(callerElsewhere)}
	names := map[string]string{"main.tf": callTo(callerElsewhere) + here(w, "module \"own\" {\n  source = \"https://HOST/archives/a.zip\"\n}\n")}
	in, done, err := installerinternal.Share(w.Installer())
	testenv.Must(t, err)
	defer done()
	for _, test := range []struct {
		files   map[string]string
		refused bool
	}{{alone, true}, {names, false}, {alone, true}, {names, false}} {
		_, err := in.Install(t.Context(), installer.Project{Dir: writeProject(t, test.files, "")}, installer.InstallOptions{})
		if _, refused := errors.AsType[*httpx.ReachError](err); refused != test.refused || !refused && err != nil {
			t.Errorf("Install = %v, want refused: %v", err, test.refused)
		}
	}
}

// It counts where a package came from according to its lock entry, not where its files are now: they
// may be installed, or come from the cache.
func TestPackagesOfTheLockPointNoFurtherThanServers(t *testing.T) {
	t.Parallel()
	w := newReachWorld(t)
	publishCaller(t, w, here(w, `source = "git::https://HOST/git/net.git?ref=v1.0.0"`))
	own := here(w, "module \"own\" {\n  source = \"https://HOST/archives/a.zip\"\n}\n")
	dir := writeProject(t, map[string]string{"main.tf": callTo(callerElsewhere), "own.tf": own}, "")
	in := w.Installer()
	mustInstall(t, in, installer.Project{Dir: dir}, installer.InstallOptions{})
	testenv.Must(t, os.Remove(filepath.Join(dir, "own.tf")))
	w.ResetRequests()
	for name, req := range map[string]request{
		"update": {Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}, "another machine": {Project: installer.Project{Dir: dir}},
	} {
		in := in
		if name == "another machine" {
			in = w.Installer()
		}
		_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
		if _, ok := errors.AsType[*httpx.ReachError](err); !ok {
			t.Errorf("%s: %v, want a *httpx.ReachError", name, err)
		}
	}
	if asked := requestsHere(w); len(asked) > 0 {
		t.Errorf("this machine got the requests %q", asked)
	}
}
