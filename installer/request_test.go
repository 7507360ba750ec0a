package installer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
	"github.com/cotterpin/cotter/versions"
)

// A request that contradicts itself does nothing, and the error names its fields.
func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		req  request
		want []string
	}{
		"locked and update":          {request{InstallOptions: installer.InstallOptions{Locked: true, Update: installer.Update{All: true}}}, []string{"Locked", "Update.All"}},
		"locked and several updates": {request{InstallOptions: installer.InstallOptions{Locked: true, Update: installer.Update{Keys: []addrs.Module{{"a"}}, Providers: []string{"null"}}}}, []string{"Locked", "Update.Keys", "Update.Providers"}},
		"lock only and locked":       {request{InstallOptions: installer.InstallOptions{Locked: true, LockOnly: true}}, []string{"Locked", "LockOnly"}},
		"no lock and locked":         {request{Project: installer.Project{NoLock: true}, InstallOptions: installer.InstallOptions{Locked: true}}, []string{"NoLock", "Locked"}},
		"no lock and lock only":      {request{Project: installer.Project{NoLock: true}, InstallOptions: installer.InstallOptions{LockOnly: true}}, []string{"NoLock", "LockOnly"}},
		"no lock and a file":         {request{Project: installer.Project{NoLock: true, LockFile: "x"}}, []string{"NoLock", "LockFile"}},
		"no lock and content":        {request{Project: installer.Project{NoLock: true, LockContent: []byte{}}}, []string{"NoLock", "LockContent"}},
		"content and a file":         {request{Project: installer.Project{LockContent: []byte{}, LockFile: "x"}}, []string{"LockContent", "LockFile"}},
		"to without a key":           {request{InstallOptions: installer.InstallOptions{Update: installer.Update{To: versions.MustParse("1.0.0")}}}, []string{"Update.To", "Update.Keys", "Update.Providers"}},
		"to with two keys":           {request{InstallOptions: installer.InstallOptions{Update: installer.Update{To: versions.MustParse("1.0.0"), Keys: []addrs.Module{{"a"}, {"b"}}}}}, []string{"Update.To", "Update.Keys", "Update.Providers"}},
		"update of the root":         {request{InstallOptions: installer.InstallOptions{Update: installer.Update{Keys: []addrs.Module{{}}}}}, []string{"Update.Keys"}},
		"only providers and a key":   {request{InstallOptions: installer.InstallOptions{Scope: installer.ScopeProviders, Update: installer.Update{Keys: []addrs.Module{{"a"}}}}}, []string{"Scope", "Update.Keys"}},
		"no providers to update":     {request{InstallOptions: installer.InstallOptions{Update: installer.Update{Providers: []string{"hashicorp/null"}}}}, []string{"Scope", "Update.Providers"}},
		"no providers to prune":      {request{InstallOptions: installer.InstallOptions{PruneProviders: true}}, []string{"Scope", "PruneProviders"}},
		"scope":                      {request{InstallOptions: installer.InstallOptions{Scope: 3}}, []string{"Scope"}},
		"header":                     {request{Project: installer.Project{LockHeader: "# by us\nx"}}, []string{"LockHeader"}},
		"layout":                     {request{Project: installer.Project{Layout: 7}}, []string{"Layout"}},
		"dialect":                    {request{Project: installer.Project{Dialect: -1}}, []string{"Dialect"}},
		"next":                       {request{Project: installer.Project{Next: 9}}, []string{"Next"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := writeProject(t, map[string]string{"main.tf": ""}, "")
			check := func(what string, err error) {
				t.Helper()
				invalid, ok := errors.AsType[*installer.InvalidOptionsError](err)
				if !ok || invalid.Error() == "" {
					t.Fatalf("%s: error %v, want *InvalidOptionsError", what, err)
				}
				if diff := cmp.Diff(test.want, invalid.Fields); diff != "" {
					t.Errorf("%s: fields (-want +got):\n%s", what, diff)
				}
			}
			in := installer.New(installer.Options{})
			req := test.req
			req.Dir = dir
			_, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			check("Install", err)
			_, err = in.InstallAll(t.Context(), []installer.Project{req.Project}, req.InstallOptions)
			check("InstallAll", err)
			if reflect.ValueOf(req.InstallOptions).IsZero() {
				for what, call := range otherMethods(in) {
					check(what, call(t.Context(), req.Project))
				}
			}
		})
	}
	for _, zero := range []error{&installer.InvalidOptionsError{}, &installer.InvalidOptionsError{Err: io.EOF}} {
		if zero.Error() == "" || errors.Unwrap(zero) != nil && !errors.Is(zero, io.EOF) {
			t.Errorf("%#v: %q", zero, zero.Error())
		}
	}
}

// otherMethods are the methods that change no modules.
func otherMethods(in *installer.Installer) map[string]func(context.Context, installer.Project) error {
	return map[string]func(context.Context, installer.Project) error{
		"Load": func(ctx context.Context, p installer.Project) error {
			_, err := in.Load(ctx, p, installer.LoadOptions{})
			return err
		},
		"Verify": func(ctx context.Context, p installer.Project) error {
			_, err := in.Verify(ctx, p, installer.VerifyOptions{})
			return err
		},
		"VerifyRemote": func(ctx context.Context, p installer.Project) error {
			_, err := in.VerifyRemote(ctx, p, installer.OriginOptions{})
			return err
		},
		"Outdated": func(ctx context.Context, p installer.Project) error {
			_, err := in.Outdated(ctx, p, installer.OriginOptions{})
			return err
		},
		"Pins": func(ctx context.Context, p installer.Project) error {
			_, err := in.Pins(ctx, p, installer.PinOptions{})
			return err
		},
		"Restore": func(ctx context.Context, p installer.Project) error {
			_, err := installerinternal.Restore(ctx, in, p, nil)
			return err
		},
		"LockedPackages": func(ctx context.Context, p installer.Project) error {
			return installerinternal.LockedPackages(ctx, in, []installer.Project{p}, installer.LockedOptions{}, installerinternal.LockedFuncs{})
		},
	}
}

// Methods refuse projects for which they cannot do their work.
func TestProjectsOfMethods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		project installer.Project
		field   string
		methods []string
	}{
		"no lock":      {installer.Project{NoLock: true}, "NoLock", []string{"Verify", "VerifyRemote", "Restore", "LockedPackages"}},
		"lock content": {installer.Project{LockContent: []byte{}}, "LockContent", []string{"Restore"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := test.project
			p.Dir = writeProject(t, map[string]string{"main.tf": "", ".terraform.lock.hcl": ""}, "")
			in := installer.New(installer.Options{})
			methods := otherMethods(in)
			methods["Install"] = func(ctx context.Context, p installer.Project) error {
				_, err := in.Install(ctx, p, installer.InstallOptions{})
				return err
			}
			for method, call := range methods {
				invalid, ok := errors.AsType[*installer.InvalidOptionsError](call(t.Context(), p))
				if refuses := slices.Contains(test.methods, method); ok != refuses || ok && !slices.Contains(invalid.Fields, test.field) {
					t.Errorf("%s: error %v, want an InvalidOptionsError: %t", method, invalid, refuses)
				}
			}
		})
	}
}

// Two projects must not have the same lock or modules directory.
func TestInstallAllPlaces(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	dirs := []string{writeProject(t, map[string]string{"main.tf": ""}, ""), writeProject(t, map[string]string{"main.tf": ""}, "")}
	for field, p := range map[string]installer.Project{
		"LockFile":   {LockFile: elsewhere + "/lock.hcl"},
		"ModulesDir": {ModulesDir: elsewhere + "/modules"},
		"DataDir":    {DataDir: elsewhere + "/data"},
	} {
		first, second := p, p
		first.Dir, second.Dir = dirs[0], dirs[1]
		_, err := installer.New(installer.Options{}).InstallAll(t.Context(), []installer.Project{first, second}, installer.InstallOptions{})
		invalid, ok := errors.AsType[*installer.InvalidOptionsError](err)
		if !ok || !slices.Contains(invalid.Fields, field) {
			t.Errorf("%s: %v, want *InvalidOptionsError", field, err)
		}
	}
}

// Requests at the same time on one Installer have events of their own. Each call and each provider
// says when it was resolved and when it is ready, and fetches can be matched with calls.
func TestEventsBelongToRequests(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach+"-- git/dns.git/v1.0.0/zone/main.tf --\n", modtest.Options{})
	w.in = with(w.in, func(o *installer.Options) {
		o.OnEvent = func(event installer.Event) { t.Errorf("the callback of the Installer got %T", event) }
	})
	in, done, err := installerinternal.Share(w.in)
	testenv.Must(t, err)
	defer done()
	var wait sync.WaitGroup
	for i := range 4 {
		name := fmt.Sprintf("own%d", i)
		dir := w.project(t, map[string]string{
			"main.tf":       oneOfEachConfig + "module \"" + name + "\" {\n  source = \"./local\"\n}\n",
			"local/main.tf": "module \"zone\" {\n  source = \"git::https://HOST/git/dns.git//zone?ref=v1.0.0\"\n}\n",
		})
		wait.Go(func() {
			active := false
			resolved, ready, needed, installed := map[string]string{}, map[string]string{}, map[string]string{}, map[string]bool{}
			req := request{Project: installer.Project{Dir: dir, OnEvent: func(ev installer.Event) {
				if active {
					t.Error("two events of a run at once")
				}
				active = true
				defer func() { active = false }()
				switch e := ev.(type) {
				case event.Resolved:
					resolved[e.Path.String()] = e.Package
				case event.PackageNeeded:
					needed[e.Path.String()] = e.Package
				case event.ModuleReady:
					if _, ok := resolved[e.Path.String()]; !ok || len(installed) > 0 {
						t.Errorf("%s is ready before it is resolved, or after the end", e.Path)
					}
					ready[e.Path.String()] = e.Dir
				case event.ProviderResolved:
					resolved[e.Provider.Type] = e.Version.String()
				case event.ProviderReady:
					ready[e.Provider.Type] = e.Version.String()
				case event.ModuleInstalled:
					installed[e.Path.String()] = true
				}
			}}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
			if _, err := in.Install(t.Context(), req.Project, req.InstallOptions); err != nil {
				t.Error(err)
				return
			}
			want := map[string]string{"net": ".terraform/modules/net", name: "local", name + ".zone": ".terraform/modules/" + name + ".zone/zone", "cloud": "1.0.0"}
			if diff := cmp.Diff(want, ready); diff != "" {
				t.Errorf("ready (-want +got):\n%s", diff)
			}
			for key := range want {
				if key == name || key == "cloud" {
					continue
				}
				if resolved[key] == "" || resolved[key] != needed[key] {
					t.Errorf("%s was resolved to %q and needs %q", key, resolved[key], needed[key])
				}
			}
			if resolved[name] != "" || len(resolved) != 4 || len(installed) != 2 {
				t.Errorf("resolved %q, installed %v", resolved, installed)
			}
		})
	}
	wait.Wait()
}

// Each request, fetch and command is traced and logged, without credentials.
func TestTrace(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(everyKind), closed)
	type key struct{}
	var mu sync.Mutex
	kinds, open := map[string]int{}, 0
	var log bytes.Buffer
	in := installer.New(installer.Options{HTTPClient: world.HTTPClient(), Credentials: credentials{}, Fetcher: &getmodules.Fetcher{
		Git: getmodules.Git{Env: append(slices.Clone(world.Env()), "PATH=/usr/bin:/bin")}, GitBackend: getmodules.GitInstalled,
	}, CacheDir: t.TempDir()})
	in = with(in, func(o *installer.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	in = with(in, func(o *installer.Options) {
		o.Trace = func(ctx context.Context, op event.Operation) (context.Context, func(error)) {
			mu.Lock()
			defer mu.Unlock()
			kind := op.Kind
			if parent, ok := ctx.Value(key{}).(string); ok {
				kind = parent + " > " + kind
			}
			kinds[kind]++
			open++
			if strings.Contains(op.Target, "canary") || strings.Contains(op.Target, "secret1") {
				t.Errorf("the target is %q", op.Target)
			}
			return context.WithValue(ctx, key{}, op.Kind), func(error) {
				mu.Lock()
				defer mu.Unlock()
				open--
			}
		}
	})
	dir := writeProject(t, map[string]string{"main.tf": `
module "registry" {
  source = "HOST/acme/net/aws"
}
module "archive" {
  source = "https://user:canary-password@HOST/archives/net.zip?token=secret1"
}
module "git" {
  source = "git::https://HOST/git/dns.git?ref=v1.0.0"
}
`}, string(world.Host()))
	mustInstall(t, in, installer.Project{Dir: dir}, installer.InstallOptions{})
	for _, kind := range []string{"http", "fetch", "fetch > http", "fetch > git"} {
		if kinds[kind] == 0 {
			t.Errorf("there is no operation %q: %v", kind, kinds)
		}
	}
	if open != 0 {
		t.Errorf("%d operations have no end", open)
	}
	text := log.String()
	for _, want := range []string{"kind=http name=GET target=https://", "kind=fetch", "kind=git name=", "duration=", "level=WARN"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not have %q", want)
		}
	}
	if strings.Contains(text, "canary") || strings.Contains(text, "secret1") {
		t.Errorf("the log has credentials:\n%s", text)
	}
}

// A warning about the configuration says where it is in Range, and its message does not repeat that.
func TestWarningPlaces(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach+"-- git/dns.git/v1.0.0/main.tf --\n", modtest.Options{})
	dir := w.project(t, map[string]string{"main.tf": `
module "secret" {
  source = "git::https://user:password@HOST/git/dns.git?ref=v1.0.0"
}
module "beside" {
  source  = "git::https://HOST/git/dns.git"
  version = "1.0.0"
}
terraform {
  required_providers {
    cloud  = { source = "HOST/acme/cloud" }
    cloud2 = { source = "HOST/acme/cloud" }
  }
}
`})
	got := map[string]string{}
	if _, err := w.in.Install(t.Context(), installer.Project{Dir: dir, OnEvent: func(ev installer.Event) {
		if warning, ok := ev.(event.Warning); ok && !strings.HasPrefix(warning.Message, "provider ") {
			got[warning.Range.String()] = warning.Path.String() + ": " + strings.Fields(warning.Message)[0]
			if strings.Contains(warning.Message, "main.tf:3") || strings.Contains(warning.Message, "main.tf:7") {
				t.Errorf("the message has the place: %s", warning.Message)
			}
		}
	}}, installer.InstallOptions{Scope: installer.ScopeAll}); err != nil {
		t.Fatal(err)
	}
	places := make(map[string]string)
	for at, text := range got {
		at, _, _ = strings.Cut(at, ",")
		places[at] = text
	}
	if diff := cmp.Diff(map[string]string{"main.tf:3": "secret: the", "main.tf:7": "beside: tofu", "main.tf:12": ": Duplicate"}, places); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// All verbs trace each request that they send, also those for tags of OCI repositories, and
// remember nothing for the next run.
func TestTraceOfVerbs(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach+"-- oci/acme%2Fnet/1.0.0/main.tf --\n-- oci/acme%2Fnet/1.1.0/main.tf --\n", modtest.Options{})
	req := request{Project: installer.Project{Dir: w.project(t, map[string]string{"main.tf": oneOfEachConfig + `
module "oci" {
  source = "oci://HOST/acme/net?version=~> 1.0"
}
`})}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	mustInstall(t, w.in, req.Project, req.InstallOptions)
	methods := map[string]func() error{
		"Install": func() error {
			_, err := w.in.Install(t.Context(), req.Project, installer.InstallOptions{Scope: installer.ScopeAll, Update: installer.Update{All: true}})
			return err
		},
		"Outdated": func() error {
			_, err := w.in.Outdated(t.Context(), req.Project, installer.OriginOptions{Scope: installer.ScopeAll})
			return err
		},
		"VerifyRemote": func() error {
			_, err := w.in.VerifyRemote(t.Context(), req.Project, installer.OriginOptions{Scope: installer.ScopeAll})
			return err
		},
	}
	var mu sync.Mutex
	traced := map[string]bool{}
	w.in = with(w.in, func(o *installer.Options) {
		o.Trace = func(ctx context.Context, op event.Operation) (context.Context, func(error)) {
			mu.Lock()
			defer mu.Unlock()
			if _, path, ok := strings.Cut(op.Target, string(w.Host())); ok && op.Kind == "http" {
				traced[path] = true
			}
			return ctx, nil
		}
	})
	for _, method := range []string{"Install", "Outdated", "VerifyRemote"} {
		for range 2 {
			w.asked()
			clear(traced)
			if err := methods[method](); err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			asked := w.asked()
			if !slices.Contains(asked, "/v2/acme/net/tags/list") {
				t.Errorf("%s did not list the tags: %q", method, asked)
			}
			for _, path := range asked {
				if !traced[path] {
					t.Errorf("%s did not trace the request for %s", method, path)
				}
			}
		}
	}
}
