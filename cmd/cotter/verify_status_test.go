package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
)

// What was not compared fails `cotter verify`, and every output says so.
func TestUnknownStatus(t *testing.T) {
	t.Parallel()
	pkg, provider := installer.PackageReport{Path: addrs.Module{"network"}}, installer.ProviderReport{}
	for name, report := range map[string]*installer.Report{
		"zero report":                 {},
		"package without a status":    {Complete: true, Packages: []installer.PackageReport{pkg}},
		"provider without a status":   {Complete: true, Providers: []installer.ProviderReport{provider}},
		"package with a later status": {Complete: true, Packages: []installer.PackageReport{{Status: 99}}},
	} {
		if got := faultsOf(report); got != (faults{notCompared: true}) {
			t.Errorf("%s: the faults are %+v, want that it was not compared", name, got)
		}
		if err := failureOf(report); !errors.Is(err, errNotVerified) {
			t.Errorf("%s: the error is %v, want %v", name, err, errNotVerified)
		}
		var line strings.Builder
		out := &output{stdout: &line, json: true}
		testenv.Must(t, out.report(report, "", failureOf(report), false))
		if err := out.end(failureOf(report)); !errors.Is(err, errNotVerified) || !strings.Contains(line.String(), `"ok":false`) {
			t.Errorf("%s: the record is %s, and the error %v, want it not ok", name, &line, err)
		}
	}
	if err := failureOf(&installer.Report{Complete: true}); err != nil {
		t.Errorf("nothing to compare: the error is %v, want none", err)
	}
	if got := statusText(pkg); got != notCompared {
		t.Errorf("a package's text is %q, want %q", got, notCompared)
	}
	if got := providerStatusText(provider); got != notCompared {
		t.Errorf("a provider's text is %q, want %q", got, notCompared)
	}
}
