package cotter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter"
)

func describe(result *cotter.Result) []string {
	var lines []string
	for _, m := range result.Modules {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(m.Path, " ", m.Version, " ", m.Dir, " ", len(m.Hashes))))
	}
	return lines
}

// Load returns the modules that Install reported.
func TestLoad(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	installed := p.mustInstall(t, cotter.Request{})
	p.world.ResetRequests()
	loaded, err := p.installer().Load(context.Background(), cotter.Request{Dir: p.dir})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(describe(installed), describe(loaded)); diff != "" {
		t.Errorf("Load (-installed +loaded):\n%s", diff)
	}
	if requests := p.world.Requests(); len(requests) > 0 {
		t.Errorf("Load asked servers: %v", requests)
	}
	var names []string
	for _, m := range loaded.Children(nil) {
		names = append(names, m.Call.Name)
	}
	if diff := cmp.Diff([]string{"app", "dns", "network"}, names); diff != "" {
		t.Errorf("Children of the root module (-want +got):\n%s", diff)
	}
}

func TestLoadOfWhatIsNotInstalled(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.write(t, "bad.tf", "module \"bad\" {\n  source = \"not an address\"\n}\n")
	_, err := p.installer().Load(context.Background(), cotter.Request{Dir: p.dir})
	if !errors.Is(err, cotter.ErrNotInstalled) {
		t.Errorf("Load = %v, want ErrNotInstalled", err)
	}
	result, err := p.installer().Load(context.Background(), cotter.Request{Dir: p.dir, BestEffort: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"app  app 0"}, describe(result)); diff != "" {
		t.Errorf("Load of the best effort (-want +got):\n%s", diff)
	}
	var got []string
	for _, u := range result.Unresolved {
		got = append(got, fmt.Sprint(u.Path, " ", u.Source != nil, " ", errors.Is(u.Err, cotter.ErrNotInstalled)))
	}
	want := []string{"app.network true true", "bad false false", "dns true true", "network true true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unresolved (-want +got):\n%s", diff)
	}
}

// If the source of a call has changed, its module counts as not installed: the installed files
// belong to the previous source.
func TestLoadAfterTheSourceChanged(t *testing.T) {
	t.Parallel()
	p := world(t, nested)
	p.mustInstall(t, cotter.Request{})
	p.write(t, "main.tf", `module "network" {
  source  = "MODTEST_HOST/acme/subnets/aws"
}
`)
	_, err := p.installer().Load(context.Background(), cotter.Request{Dir: p.dir})
	var module *cotter.ModuleError
	if !errors.Is(err, cotter.ErrNotInstalled) || !errors.As(err, &module) || module.Range.Start.Line != 2 {
		t.Errorf("Load = %v, want ErrNotInstalled at line 2", err)
	}
}
