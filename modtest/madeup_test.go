package modtest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/modtest"
	selection "github.com/cotterpin/cotter/versions"
)

func TestMadeUpVersions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		wanted []string
		want   string
	}{
		{nil, "0.9.1 1.0.0 1.0.1 1.0.2+build.7 1.0.3-rc.1 1.1.0 1.1.10 1.2.0-beta1 2.0.0 3.0.0-alpha.2"},
		{[]string{">= 2.1.3"}, "2.1.2 2.1.3 2.1.4 2.1.5+build.7 2.1.6-rc.1 2.2.0 2.2.10 2.3.0-beta1 3.0.0 4.0.0-alpha.2"},
		{[]string{"~> 0.1-beta.2"}, "0.0.7 0.1.0-beta.2 0.1.0 0.1.1 0.1.2+build.7 0.1.3-rc.1 0.2.0 0.2.10 0.3.0-beta1 1.0.0 2.0.0-alpha.2"},
		{[]string{"latest", "99999999999999999999.0.0"}, "0.9.1 1.0.0 1.0.1 1.0.2+build.7 1.0.3-rc.1 1.1.0 1.1.10 1.2.0-beta1 2.0.0 3.0.0-alpha.2"},
		{[]string{"1.0.0", "= 1.0.2"}, "0.9.1 1.0.0 1.0.1 1.0.2 1.0.3-rc.1 1.0.3 1.0.4+build.7 1.0.5-rc.1 1.1.0 1.1.10 1.2.0-beta1 2.0.0 3.0.0-alpha.2"},
	} {
		got := strings.Join(modtest.MadeUpVersions(test.wanted...), " ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("MadeUpVersions(%q) (-want +got):\n%s", test.wanted, diff)
		}
	}
}

// Each constraint that real configurations have can be met.
func TestMadeUpVersionsMeetConstraints(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.2.3", "= 0.0.1", "!= 1.0.0", "> 1.2.3", ">= 5", "< 4.0", "<= 0.9.0", "~> 3", "~> 3.6", "~> 3.6.1", ">= 4.0, < 6.0",
		">= 3.43.0, != 4.14.0, < 5.0.0", "> 3.0, < 3.0.5", "~> 1.0.0-beta2", "< 1.0.0", "> 0, < 1", "1.2.3+b1", ">= 2.7, <= 2.7.1",
	} {
		want, err := selection.ParseProviderConstraints(text)
		if err != nil {
			t.Fatal(err)
		}
		var offered []selection.Version
		for _, version := range modtest.MadeUpVersions(text) {
			parsed, err := selection.Parse(version)
			if err != nil {
				t.Fatal(err)
			}
			offered = append(offered, parsed)
		}
		if !slices.ContainsFunc(offered, want.Allows) {
			t.Errorf("%q: none of %v meets it", text, offered)
		}
	}
}

// What is not in the tree is made up when it is asked for.
func TestMadeUp(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, modtest.Txtar(`
-- config/main.tf --
terraform {
  required_providers {
    cloud = {
      source  = "MODTEST_HOST/acme/cloud"
      version = "~> 5.1.0"
    }
    unknown = { source = "MODTEST_HOST/acme/unknown" }
  }
}
module "net" {
  source  = "MODTEST_HOST/acme/net/aws"
  version = "~> 3.1"
}
module "unknown" {
  source = "MODTEST_HOST/acme/unknown/aws"
}
`), modtest.Options{MadeUp: true})
	if err := world.MakeUpProvider("acme/cloud", "~> 5.1.0"); err != nil {
		t.Fatal(err)
	}
	if err := world.MakeUpModule("acme/net/aws", modtest.Txtar("-- main.tf --\n"), "~> 3.1"); err != nil {
		t.Fatal(err)
	}
	result, err := world.Installer().Install(t.Context(), installer.Project{Dir: world.Dir(t, "config")}, installer.InstallOptions{Scope: installer.ScopeAll})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, provider := range result.Providers {
		got = append(got, provider.Address.Type+" "+provider.Version.String())
	}
	for _, module := range result.Modules {
		got = append(got, module.Path.String()+" "+module.Version.String())
	}
	if diff := cmp.Diff([]string{"cloud 5.1.2+build.7", "unknown 2.0.0", "net 3.2.10", "unknown 2.0.0"}, got); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
	h1, zh, err := world.ProviderHashes("acme/cloud", "5.1.2+build.7", "darwin_arm64")
	if err != nil || h1 != "h1:hsaeEsBUYqTZp0nBT/WFKn22EtA75oSw2EAX1DdGqWU=" || zh == "" {
		t.Errorf("ProviderHashes = %s, %s, %v", h1, zh, err)
	}
}
