package installer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// A run that believes what is installed uses it without a request and without any file of an earlier
// run of the same user. What is not installed as the lock says, it asks for like other runs. This is
// the row of the evidence table for Options.TrustInstalled.
func TestTrustInstalled(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach, modtest.Options{})
	for name, test := range map[string]struct {
		req request
		// change changes the project after it was installed.
		change func(t *testing.T, dir string)
		// refused says that the run cannot work offline.
		refused bool
	}{
		"install":           {},
		"install --locked":  {req: request{InstallOptions: installer.InstallOptions{Locked: true}}},
		"lock":              {req: request{InstallOptions: installer.InstallOptions{LockOnly: true}}},
		"update of nothing": {req: request{InstallOptions: installer.InstallOptions{DryRun: true}}},
		"the module has changed": {change: func(t *testing.T, dir string) {
			overwrite(t, filepath.Join(dir, ".terraform/modules/net/main.tf"))
		}, refused: true},
		"the module is gone": {change: func(t *testing.T, dir string) {
			testenv.Must(t, os.RemoveAll(filepath.Join(dir, ".terraform/modules/net")))
		}, refused: true},
		"the provider has changed": {change: func(t *testing.T, dir string) {
			found, err := filepath.Glob(filepath.Join(dir, ".terraform/providers/*/acme/cloud/1.0.0/*/terraform-provider-cloud"))
			if err != nil || len(found) != 1 {
				t.Fatalf("the provider is in %q, %v", found, err)
			}
			overwrite(t, found[0])
		}, refused: true},
		"the lock has another hash": {change: func(t *testing.T, dir string) {
			lock := filepath.Join(dir, ".terraform.lock.hcl")
			text := strings.ReplaceAll(string(read(t, lock)), "h1:", "h1:0")
			testenv.Must(t, os.WriteFile(lock, []byte(text), 0o644))
		}, refused: true},
		"an update": {req: request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := w.project(t, map[string]string{"main.tf": oneOfEachConfig})
			first := with(w.in, func(o *installer.Options) { o.CacheDir, o.StateDir = "", "" })
			mustInstall(t, first, installer.Project{Dir: dir, Layout: installer.LayoutCopy}, installer.InstallOptions{Scope: installer.ScopeAll})
			if test.change != nil {
				test.change(t, dir)
			}
			req := test.req
			req.Dir, req.Scope, req.Layout, req.Offline = dir, installer.ScopeAll, installer.LayoutCopy, true
			if _, err := first.Install(t.Context(), req.Project, req.InstallOptions); err == nil {
				t.Error("the run works offline even if it does not believe what is installed")
			}
			in := with(first, func(o *installer.Options) { o.TrustInstalled = true })
			result, err := in.Install(t.Context(), req.Project, req.InstallOptions)
			if test.refused {
				if err == nil {
					t.Error("the run was not refused")
				}
				return
			}
			testenv.Must(t, err)
			checkTrusted(t, in, req, result)
			// Nothing of this is kept for a run that does not believe it.
			if _, err := first.Install(t.Context(), req.Project, req.InstallOptions); err == nil {
				t.Error("a later run believes what is installed too")
			}
		})
	}
}

// checkTrusted checks that a run has believed what is installed, and that Verify does too.
func checkTrusted(t *testing.T, in *installer.Installer, req request, result *installer.Result) {
	t.Helper()
	for _, e := range []evidence.Evidence{result.Modules[0].Evidence, result.Providers[0].Evidence} {
		if e.Kind != evidence.Installed {
			t.Errorf("the evidence is %v, want installed", e)
		}
	}
	if len(result.LockChanges)+len(result.ProviderChanges) > 0 {
		t.Errorf("the lock would change: %+v, %+v", result.LockChanges, result.ProviderChanges)
	}
	report, err := in.Verify(t.Context(), req.Project, installer.VerifyOptions{})
	if err != nil || !report.OK() || report.Packages[0].Evidence.Kind != evidence.Installed || report.Providers[0].Evidence.Kind != evidence.Installed {
		t.Errorf("Verify = %+v, %v", report, err)
	}
}

func overwrite(t *testing.T, name string) {
	t.Helper()
	testenv.Must(t, errors.Join(os.Chmod(name, 0o755), os.WriteFile(name, []byte("# changed\n"), 0o755)))
}

// Online, a run that believes what is installed sends no requests for it.
func TestTrustInstalledAsksNobody(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, request{})
	in := with(p.installer(), func(o *installer.Options) { o.StateDir, o.TrustInstalled = "", true })
	for _, req := range []request{{}, {InstallOptions: installer.InstallOptions{Locked: true}}, {Project: installer.Project{NoLock: true}}, {Project: installer.Project{NoLock: true}, InstallOptions: installer.InstallOptions{Offline: true}}} {
		p.world.ResetRequests()
		req.Dir = p.dir
		result, err := in.Install(t.Context(), req.Project, req.InstallOptions)
		if err != nil {
			t.Fatalf("%+v: %v", req, err)
		}
		if requests := p.world.Requests(); len(requests) > 0 {
			t.Errorf("%+v: %d requests, want none: %v", req, len(requests), requests)
		}
		var got []string
		for _, m := range result.Modules {
			if !m.Version.IsZero() {
				got = append(got, m.Path.String()+" "+m.Version.String()+" "+m.Evidence.Kind.String())
			}
		}
		want := []string{"app.network 1.0.0 installed", "app.network.subnets 0.3.0 installed", "network 1.0.0 installed", "network.subnets 0.3.0 installed"}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: modules %q, want %q", req, got, want)
		}
	}
}

// Without a lock, an installed module counts only for the same source at a version that fits.
func TestTrustInstalledWithoutLock(t *testing.T) {
	t.Parallel()
	w := newProviderWorld(t, oneOfEach, modtest.Options{})
	for name, test := range map[string]struct {
		config  string
		update  installer.Update
		refused bool
	}{
		"the same":           {config: "module \"net\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"1.0.0\"\n}\n"},
		"a wider constraint": {config: "module \"net\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"~> 1.0\"\n}\n"},
		"another constraint": {config: "module \"net\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"1.1.0\"\n}\n", refused: true},
		"another source":     {config: "module \"net\" {\n  source  = \"HOST/acme/other/aws\"\n  version = \"1.0.0\"\n}\n", refused: true},
		"another call":       {config: "module \"other\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"1.0.0\"\n}\n", refused: true},
		"an update":          {config: "module \"net\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"~> 1.0\"\n}\n", update: installer.Update{Keys: []addrs.Module{{"net"}}}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := w.project(t, map[string]string{"main.tf": "module \"net\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"1.0.0\"\n}\n"})
			in := with(w.in, func(o *installer.Options) { o.CacheDir, o.StateDir, o.TrustInstalled = "", "", true })
			req := request{Project: installer.Project{Dir: dir, NoLock: true}}
			mustInstall(t, in, req.Project, req.InstallOptions)
			testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(strings.ReplaceAll(test.config, "HOST", string(w.Host()))), 0o644))
			req.Offline, req.Update = true, test.update
			if _, err := in.Install(t.Context(), req.Project, req.InstallOptions); (err != nil) != test.refused || err != nil && !errors.Is(err, installer.ErrOffline) {
				t.Errorf("offline: %v, want refused %t", err, test.refused)
			}
		})
	}
}

// A record of an old stock tool has a registry's address without the host, and a directory below the
// call's.
func TestTrustInstalledByOldTools(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{
		"main.tf": "module \"net\" {\n  source = \"acme/net/aws\"\n}\n",
		".terraform/modules/net/aws-1.0.0/main.tf": "",
		".terraform/modules/modules.json":          `{"Modules":[{"Key":"net","Source":"acme/net/aws","Version":"1.0.0","Dir":".terraform/modules/net/aws-1.0.0"},{"Key":"","Source":"","Dir":"."}]}`,
	}, "")
	in := installer.New(installer.Options{TrustInstalled: true})
	project := installer.Project{Dir: dir, NoLock: true}
	for verb, run := range map[string]func() (*installer.Result, error){
		"Load": func() (*installer.Result, error) { return in.Load(t.Context(), project, installer.LoadOptions{}) },
		"Install": func() (*installer.Result, error) {
			return in.Install(t.Context(), project, installer.InstallOptions{Offline: true})
		},
	} {
		found, err := run()
		if err != nil || len(found.Modules) != 1 || found.Modules[0].Dir != ".terraform/modules/net/aws-1.0.0" {
			t.Errorf("%s: %+v, %v", verb, found, err)
		}
	}
}

// An archive of this machine may call modules from elsewhere. Verify knows what has confirmed them.
func TestVerifyBelowLocalArchive(t *testing.T) {
	t.Parallel()
	p := world(t, `
-- config/main.tf --
-- git/net.git/v1.0.0/main.tf --
`)
	archive := filepath.Join(t.TempDir(), "all.zip")
	call := fmt.Sprintf("module \"net\" {\n  source = \"git::https://%s/git/net.git?ref=v1.0.0\"\n}\n", p.world.Host())
	testenv.Must(t, os.WriteFile(archive, testenv.Zip(t, map[string]string{"main.tf": call}), 0o600))
	p.write(t, "main.tf", fmt.Sprintf("module \"all\" {\n  source = %q\n}\n", archive))
	p.mustInstall(t, request{})
	report, err := p.installer().Verify(t.Context(), installer.Project{Dir: p.dir}, installer.VerifyOptions{})
	testenv.Must(t, err)
	for _, pkg := range report.Packages {
		if pkg.Unconfirmed || pkg.Evidence.Kind != evidence.Origin {
			t.Errorf("module %s is %v, want its origin", pkg.Path, pkg.Evidence)
		}
	}
	if len(report.Packages) != 2 {
		t.Errorf("Verify has compared %d packages, want 2", len(report.Packages))
	}
}
