package cotter_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/mirror"
)

// A zero value never means that something was checked.
func TestZeroValuesAreNotFine(t *testing.T) {
	t.Parallel()
	if zero := cotter.Status(0); zero != cotter.StatusUnknown || zero.String() != "unknown" {
		t.Errorf("Status(0) = %v, want unknown", zero)
	}
	for status, want := range map[cotter.Status]string{
		cotter.StatusVerified: "verified", cotter.StatusChanged: "changed", cotter.StatusMissing: "missing",
		cotter.StatusUnlocked: "unlocked", 99: "unknown",
	} {
		if got := status.String(); got != want {
			t.Errorf("Status(%d).String() = %q, want %q", status, got, want)
		}
	}
	if (mirror.Entry{}).OK() {
		t.Error("an entry that no mirror was asked for is OK")
	}
	if (cotter.ModuleOrigin{}).OK() || (cotter.ModuleOrigin{Locked: "a", Now: "b"}).OK() || !(cotter.ModuleOrigin{Locked: "a", Now: "a"}).OK() {
		t.Error("an origin is OK if and only if it has answered with the locked content")
	}
	confirmed := evidence.Evidence{Kind: evidence.Origin}
	if (cotter.ProviderOrigin{}).OK() || (cotter.ProviderOrigin{Evidence: confirmed, Unknown: []hashing.Hash{"h1:"}}).OK() || !(cotter.ProviderOrigin{Evidence: confirmed}).OK() {
		t.Error("a provider's origin is OK if and only if it confirms all hashes")
	}
}

func TestReportOK(t *testing.T) {
	t.Parallel()
	pkg := func(p cotter.PackageReport) cotter.Report {
		return cotter.Report{Complete: true, Packages: []cotter.PackageReport{p}}
	}
	provider := func(p cotter.ProviderReport) cotter.Report {
		return cotter.Report{Complete: true, Providers: []cotter.ProviderReport{p}}
	}
	failed := errors.New("it cannot be read")
	for name, test := range map[string]struct {
		report cotter.Report
		want   bool
	}{
		"zero":                      {cotter.Report{}, false},
		"nothing to compare":        {cotter.Report{Complete: true}, true},
		"not complete":              {cotter.Report{Packages: []cotter.PackageReport{{Status: cotter.StatusVerified}}}, false},
		"unfinished":                {cotter.Report{Complete: true, Unfinished: true}, false},
		"stale":                     {cotter.Report{Complete: true, Stale: []error{failed}}, false},
		"zero package":              {pkg(cotter.PackageReport{}), false},
		"verified package":          {pkg(cotter.PackageReport{Status: cotter.StatusVerified}), true},
		"unreadable package":        {pkg(cotter.PackageReport{Status: cotter.StatusVerified, Err: failed}), false},
		"package of unknown status": {pkg(cotter.PackageReport{Status: 99}), false},
		"zero provider":             {provider(cotter.ProviderReport{}), false},
		"verified provider":         {provider(cotter.ProviderReport{Status: cotter.StatusVerified}), true},
		"unreadable provider":       {provider(cotter.ProviderReport{Status: cotter.StatusVerified, Err: failed}), false},
	} {
		if got := test.report.OK(); got != test.want {
			t.Errorf("%s: OK = %v, want %v", name, got, test.want)
		}
	}
}

func TestVerifyOfAnEmptyProject(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"main.tf": "", ".terraform.lock.hcl": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report, err := (&cotter.Installer{}).Verify(t.Context(), cotter.Request{Dir: dir})
	if err != nil || !report.Complete || !report.OK() {
		t.Errorf("Verify = %+v, %v, want a complete report that is OK", report, err)
	}
}
