package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
)

// What was not compared fails `cotter verify`, and every output says so.
func TestUnknownStatus(t *testing.T) {
	t.Parallel()
	pkg, provider := cotter.PackageReport{Path: addrs.Module{"network"}}, cotter.ProviderReport{}
	for name, report := range map[string]*cotter.Report{
		"zero report":                 {},
		"package without a status":    {Complete: true, Packages: []cotter.PackageReport{pkg}},
		"provider without a status":   {Complete: true, Providers: []cotter.ProviderReport{provider}},
		"package with a later status": {Complete: true, Packages: []cotter.PackageReport{{Status: 99}}},
	} {
		if got := verifyStatus(report).status; got != exitUnverifiable {
			t.Errorf("%s: the exit status is %d, want %d", name, got, exitUnverifiable)
		}
		text, err := json.Marshal(jsonReport(report))
		if err != nil || !bytes.Contains(text, []byte(`"ok":false`)) {
			t.Errorf("%s: the record is %s, %v, want it not ok", name, text, err)
		}
	}
	if got := verifyStatus(&cotter.Report{Complete: true}).status; got != 0 {
		t.Errorf("nothing to compare: the exit status is %d, want 0", got)
	}
	if got := statusText(pkg); got != notCompared {
		t.Errorf("a package's text is %q, want %q", got, notCompared)
	}
	if got := providerStatusText(provider); got != notCompared {
		t.Errorf("a provider's text is %q, want %q", got, notCompared)
	}
	if got := []string{packageRule(pkg), providerRule(provider)}; got[0] != "unverifiable" || got[1] != "unverifiable" {
		t.Errorf("the rules of SARIF are %q, want unverifiable", got)
	}
}
