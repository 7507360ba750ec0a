package installer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Results contain the credentials of source addresses only if the request asks for them, and
// events never do.
func TestKeepCredentials(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	p := world(t, `
-- config/main.tf --
module "tagged" {
  source = "git::https://user:`+secret+`@MODTEST_HOST/git/net.git?ref=v1.0.0"
}
module "ranged" {
  source = "git::https://user:`+secret+`@MODTEST_HOST/git/net.git?version=~> 1.0"
}
-- git/net.git/v1.0.0/main.tf --
`)
	verbs := map[string]func(context.Context, *installer.Installer, request) ([]shownCall, error){
		"install":  installedCalls,
		"load":     loadedCalls,
		"outdated": outdatedCalls,
		"unresolved": func(ctx context.Context, in *installer.Installer, req request) ([]shownCall, error) {
			req.DataDir = "elsewhere"
			return loadedCalls(ctx, in, req)
		},
	}
	mustInstall(t, p.installer(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if strings.Contains(p.events(), secret) {
		t.Errorf("an event has the password:\n%s", p.events())
	}
	for name, verb := range verbs {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s keep=%v", name, keep), func(t *testing.T) {
				t.Parallel()
				calls, err := verb(t.Context(), p.installer(), request{Project: installer.Project{Dir: p.dir, KeepCredentials: keep}})
				if err != nil || len(calls) == 0 {
					t.Fatalf("%d calls, error %v", len(calls), err)
				}
				for _, c := range calls {
					if strings.Contains(c.source.String(), secret) != keep || strings.Contains(c.call.Source, secret) != keep {
						t.Errorf("source %s, call's source %s; want the password: %v", c.source, c.call.Source, keep)
					}
				}
			})
		}
	}
}

// A source that does not parse is reported without its password.
func TestKeepCredentialsOfNoAddress(t *testing.T) {
	t.Parallel()
	p := world(t, "-- config/main.tf --\nmodule \"bad\" {\n  source = \"git::https://user:s3cr3t@[::1/net.git\"\n}\n")
	result, err := p.installer().Load(t.Context(), installer.Project{Dir: p.dir}, installer.LoadOptions{BestEffort: true})
	testenv.Must(t, err)
	if len(result.Unresolved) != 1 || result.Unresolved[0].Source != nil || strings.Contains(result.Unresolved[0].Call.Source, "s3cr3t") {
		t.Errorf("Unresolved = %+v, want one without the password", result.Unresolved)
	}
}

// shownCall is a call and its source, as a result contains them.
type shownCall struct {
	call   config.Call
	source addrs.ModuleSource
}

func callsOf(result *installer.Result) []shownCall {
	var calls []shownCall
	for _, m := range result.Modules {
		calls = append(calls, shownCall{m.Call, m.Source})
	}
	for _, u := range result.Unresolved {
		calls = append(calls, shownCall{u.Call, u.Source})
	}
	return calls
}

func installedCalls(ctx context.Context, in *installer.Installer, req request) ([]shownCall, error) {
	result, err := in.Install(ctx, req.Project, req.InstallOptions)
	if err != nil {
		return nil, err
	}
	return callsOf(result), nil
}

func loadedCalls(ctx context.Context, in *installer.Installer, req request) ([]shownCall, error) {
	result, err := in.Load(ctx, req.Project, installer.LoadOptions{BestEffort: true})
	if err != nil {
		return nil, err
	}
	return callsOf(result), nil
}

func outdatedCalls(ctx context.Context, in *installer.Installer, req request) ([]shownCall, error) {
	list, err := in.Outdated(ctx, req.Project, installer.OriginOptions{Scope: req.Scope})
	var calls []shownCall
	if list == nil {
		return nil, err
	}
	for _, o := range list.Modules {
		calls = append(calls, shownCall{o.Call, o.Source})
	}
	return calls, err
}
