package installer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/versions"
)

const agingWorld = `
-- config/main.tf --
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 1.0"
}
-- registry/acme/net/aws/1.0.0/main.tf --
-- registry/acme/net/aws/1.1.0/main.tf --
# the day before yesterday
-- registry/acme/net/aws/2.0.0/main.tf --
# yesterday
`

// aged returns the request with a policy that requires versions to be two weeks old.
func aged(req request) request {
	req.Policies = []*policy.Policy{{MinAge: 14 * 24 * time.Hour}}
	return req
}

func agingProject(t *testing.T) *project {
	p := world(t, agingWorld)
	for version, days := range map[string]int{"1.0.0": 100, "1.1.0": 2, "2.0.0": 1} {
		testenv.Must(t, p.world.SetDiscovered("acme/net/aws", version, time.Now().AddDate(0, 0, -days)))
	}
	return p
}

func TestMinAge(t *testing.T) {
	t.Parallel()
	p := agingProject(t)
	if v := version(p.mustInstall(t, aged(request{})), "net"); v != "1.0.0" {
		t.Errorf("with a policy of 14 days Install took %s, want 1.0.0", v)
	}
	if !strings.Contains(p.events(), "version 1.1.0 was passed over") {
		t.Errorf("no event says that 1.1.0 was passed over:\n%s", p.events())
	}
	if v := version(p.mustInstall(t, request{InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}), "net"); v != "1.1.0" {
		t.Errorf("without a policy Upgrade took %s, want 1.1.0", v)
	}
	// The policy does not apply to locked versions: they stay, and an update keeps them.
	for _, req := range []request{{}, {InstallOptions: installer.InstallOptions{Locked: true}}, {InstallOptions: installer.InstallOptions{Update: installer.Update{All: true}}}, {InstallOptions: installer.InstallOptions{Unify: true}}} {
		if v := version(p.mustInstall(t, aged(req)), "net"); v != "1.1.0" {
			t.Errorf("with a locked version Install took %s, want 1.1.0", v)
		}
	}
	p.write(t, "main.tf", "module \"net\" {\n  source  = \"MODTEST_HOST/acme/net/aws\"\n  version = \"2.0.0\"\n}\n")
	var violation *policy.Violation
	err := p.mustFail(t, aged(request{}))
	if !errors.As(err, &violation) || violation.Argument != "min_age_days" || !strings.Contains(err.Error(), "module net (main.tf:3): ") {
		t.Errorf("Install of a young version = %v, want a violation of min_age_days", err)
	}
}

func TestMinAgeWithoutAge(t *testing.T) {
	t.Parallel()
	p := world(t, agingWorld)
	if v := version(p.mustInstall(t, aged(request{})), "net"); v != "1.1.0" {
		t.Errorf("Install took %s, want 1.1.0: its age is not known", v)
	}
	if !strings.Contains(p.events(), "does not report the age of version 1.1.0") {
		t.Errorf("no event says that the age is not known:\n%s", p.events())
	}
}

func TestOutdatedMinAge(t *testing.T) {
	t.Parallel()
	p := agingProject(t)
	p.mustInstall(t, aged(request{}))
	for _, tt := range []struct {
		req             request
		allowed, latest string
	}{
		{request{Project: installer.Project{Dir: p.dir}}, "1.1.0", "2.0.0"},
		{aged(request{Project: installer.Project{Dir: p.dir}}), "1.0.0", "1.0.0"},
	} {
		list, err := p.installer().Outdated(context.Background(), tt.req.Project, installer.OriginOptions{Scope: tt.req.Scope})
		if err != nil || len(list.Modules) != 1 {
			t.Fatalf("Outdated = %+v, %v, want one call", list, err)
		}
		if o := list.Modules[0]; o.Current.String() != "1.0.0" || o.Allowed.String() != tt.allowed || o.Latest.String() != tt.latest {
			t.Errorf("Outdated = %+v, %v, want allowed %s and latest %s", list, err, tt.allowed, tt.latest)
		}
		pins, err := p.installer().Pins(t.Context(), tt.req.Project, installer.PinOptions{Keys: tt.req.Update.Keys, All: tt.req.Update.All, To: tt.req.Update.To})
		if err != nil || len(pins) != 1 || pins[0].LatestVersion.String() != tt.latest || pins[0].Outdated() != (tt.latest == "2.0.0") {
			t.Errorf("Pins = %+v, %v, want latest %s", pins, err, tt.latest)
		}
	}
	var violation *policy.Violation
	to := installer.PinOptions{Keys: []addrs.Module{{"net"}}, To: versions.MustParse("2.0.0")}
	if pins, err := p.installer().Pins(t.Context(), aged(request{Project: installer.Project{Dir: p.dir}}).Project, to); !errors.As(err, &violation) || len(pins) > 0 {
		t.Errorf("Pins for a young version = %+v, %v, want a violation", pins, err)
	}
}
