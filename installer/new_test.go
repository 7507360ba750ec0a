package installer_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// everyKind is a world with a package for each kind of request.
const everyKind = `
-- config/main.tf --
module "registry" {
  source = "MODTEST_HOST/acme/net/aws"
}
module "archive" {
  source = "https://MODTEST_HOST/archives/net.zip"
}
module "oci" {
  source = "oci://MODTEST_HOST/acme/net?tag=1.0.0"
}
module "git" {
  source = "git::https://MODTEST_HOST/git/dns.git?ref=v1.0.0"
}
module "own" {
  source = "own::https://own.example.com/net"
}
-- registry/acme/net/aws/1.0.0/main.tf --
-- archives/net.zip/main.tf --
-- oci/acme%2Fnet/1.0.0/main.tf --
-- git/dns.git/v1.0.0/main.tf --
`

// recorder is a transport that records what it sends.
type recorder struct {
	http.RoundTripper
	mu     sync.Mutex
	kinds  map[string]bool
	agents map[string]bool
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/"), "/")
	r.mu.Lock()
	if r.kinds[kind] = true; kind != "git" { // servers of git get the name of git
		r.agents[req.UserAgent()] = true
	}
	r.mu.Unlock()
	return r.RoundTripper.RoundTrip(req)
}

// closed are the options for servers that require credentials.
var closed = modtest.Options{
	Archives: true, Token: "canary-token", ArchiveUser: "user", ArchivePassword: "canary-password",
	OCIUser: "user", OCIPassword: "canary-of-oci", GitUser: "user", GitPassword: "canary-of-git",
}

// credentials has the credentials for the servers with the options closed.
type credentials struct{}

func (credentials) ForHost(context.Context, addrs.Hostname) (disco.Credentials, error) {
	return bearer(closed.Token), nil
}

func (credentials) HTTPCredentials(_ context.Context, at *url.URL) (*url.Userinfo, error) {
	if !strings.HasPrefix(at.Path, "/archives/") {
		return nil, nil
	}
	return url.UserPassword(closed.ArchiveUser, closed.ArchivePassword), nil
}

func (credentials) OCICredentials(_ context.Context, _, repository string) (getmodules.OCICredential, error) {
	if repository != "acme/net" {
		return getmodules.OCICredential{}, nil
	}
	return getmodules.OCICredential{Username: closed.OCIUser, Password: closed.OCIPassword}, nil
}

func (credentials) GitCredentials(context.Context, *url.URL) (*url.Userinfo, error) {
	return url.UserPassword(closed.GitUser, closed.GitPassword), nil
}

// bearer is a token for the services of one host.
type bearer string

func (b bearer) PrepareRequest(req *http.Request) {
	req.Header.Set("Authorization", "Bearer "+string(b))
}

// ownGetter creates a package with one file and records the user agent that it is given.
type ownGetter struct{ agent string }

func (g *ownGetter) Get(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	g.agent = from.UserAgent
	if err := os.Mkdir(from.Path, 0o755); err != nil {
		return getmodules.Downloaded{}, err
	}
	return getmodules.Downloaded{}, os.WriteFile(from.Path+"/main.tf", nil, 0o644)
}

// The options of New apply to discovery, the registry client and the fetcher. The credentials are kept nowhere.
func TestNew(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(everyKind), closed)
	client := world.HTTPClient()
	sent := &recorder{RoundTripper: client.Transport, kinds: map[string]bool{}, agents: map[string]bool{}}
	client.Transport = sent
	getter := &ownGetter{}
	installed := 0
	in := installer.New(installer.Options{
		HTTPClient:  client,
		UserAgent:   "embedder/1.0",
		Credentials: credentials{},
		Fetcher:     &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"own": getter}},
		CacheDir:    t.TempDir(),
		StateDir:    t.TempDir(),
		Parallel:    2,
		OnEvent: func(ev installer.Event) {
			if _, ok := ev.(event.ModuleInstalled); ok {
				installed++
			}
			if text := fmt.Sprintf("%+v", ev); strings.Contains(text, "canary") {
				t.Errorf("an event has a credential: %s", text)
			}
		},
	})
	dir := world.Dir(t, "config")
	mustInstall(t, in, installer.Project{Dir: dir}, installer.InstallOptions{})
	for _, place := range []string{dir, in.Options().CacheDir, in.Options().StateDir} {
		for name, text := range testenv.Files(t, place) {
			if strings.Contains(text, "canary") {
				t.Errorf("%s has a credential", name)
			}
		}
	}
	if diff := cmp.Diff([]string{".well-known", "archives", "git", "packages", "v1", "v2"}, slices.Sorted(maps.Keys(sent.kinds))); diff != "" {
		t.Errorf("kinds of requests (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"embedder/1.0"}, slices.Sorted(maps.Keys(sent.agents))); diff != "" {
		t.Errorf("user agents (-want +got):\n%s", diff)
	}
	if getter.agent != "embedder/1.0" || installed != 5 {
		t.Errorf("the getter was told user agent %q, %d modules were installed; want embedder/1.0 and 5", getter.agent, installed)
	}
	if entries, err := os.ReadDir(in.Options().CacheDir); err != nil || len(entries) == 0 {
		t.Errorf("the cache has %v, %v; want the packages", entries, err)
	}
}

// Settings of the given fetcher take precedence over the options of New, which does not change it.
func TestNewFetcher(t *testing.T) {
	t.Parallel()
	own := &http.Client{}
	given := &getmodules.Fetcher{HTTPClient: own, UserAgent: "fetcher/1.0"}
	in := installer.New(installer.Options{HTTPClient: &http.Client{}, UserAgent: "embedder/1.0", CacheDir: "cache", Fetcher: given})
	if given.HTTPClient != own || given.UserAgent != "fetcher/1.0" || given.CacheDir != "" {
		t.Errorf("New has changed the given fetcher: %q, %q", given.UserAgent, given.CacheDir)
	}
	got, ok := in.Options().Fetcher.(*getmodules.Fetcher)
	if !ok || got == given || got.HTTPClient != own || got.HTTPClientForGit || got.UserAgent != "fetcher/1.0" || got.CacheDir != "cache" {
		t.Errorf("New made a %T", in.Options().Fetcher)
	}
}

// Options have every setting of an Installer, and New passes it on. The clients are either made by New
// or set afterwards.
func TestOptionsHaveAllSettings(t *testing.T) {
	t.Parallel()
	clients := []string{"Registry", "Fetcher", "Providers", "Stores", "Config"}
	opts := installer.Options{
		CacheDir: "cache", StateDir: "state", StateKey: "key", PluginCacheDir: "plugins", LocalHosts: []string{"host"}, TrustInstalled: true, Parallel: 2,
		OnEvent: func(installer.Event) {}, Logger: slog.New(slog.DiscardHandler),
		Trace: func(ctx context.Context, _ event.Operation) (context.Context, func(error)) { return ctx, nil },
	}
	given, made := reflect.ValueOf(opts), reflect.ValueOf(installer.New(opts)).Elem()
	for _, field := range reflect.VisibleFields(made.Type()) {
		if !field.IsExported() || slices.Contains(clients, field.Name) {
			continue
		}
		from := given.FieldByName(field.Name)
		switch to := made.FieldByName(field.Name); {
		case !from.IsValid():
			t.Errorf("Options have no field %s", field.Name)
		case from.Kind() == reflect.Func && to.IsNil(), from.Kind() != reflect.Func && !reflect.DeepEqual(to.Interface(), from.Interface()):
			t.Errorf("New makes an Installer with the field %s = %v", field.Name, to)
		}
	}
}
