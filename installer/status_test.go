package installer_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/mirror"
)

// A zero value never means that something was checked.
func TestZeroValuesAreNotFine(t *testing.T) {
	t.Parallel()
	if zero := installer.Status(0); zero != installer.StatusUnknown || zero.String() != "unknown" {
		t.Errorf("Status(0) = %v, want unknown", zero)
	}
	if (mirror.Entry{}).OK() {
		t.Error("an entry that no mirror was asked for is OK")
	}
	if (installer.ModuleOrigin{}).OK() || (installer.ModuleOrigin{Locked: "a", Now: "b"}).OK() || !(installer.ModuleOrigin{Locked: "a", Now: "a"}).OK() {
		t.Error("an origin is OK if and only if it has answered with the locked content")
	}
	confirmed := evidence.Evidence{Kind: evidence.Origin}
	if (installer.ProviderOrigin{}).OK() || (installer.ProviderOrigin{Evidence: confirmed, Unknown: []hashing.Hash{"h1:"}}).OK() || !(installer.ProviderOrigin{Evidence: confirmed}).OK() {
		t.Error("a provider's origin is OK if and only if it confirms all hashes")
	}
}

func TestReportOK(t *testing.T) {
	t.Parallel()
	pkg := func(p installer.PackageReport) installer.Report {
		return installer.Report{Complete: true, Packages: []installer.PackageReport{p}}
	}
	provider := func(p installer.ProviderReport) installer.Report {
		return installer.Report{Complete: true, Providers: []installer.ProviderReport{p}}
	}
	failed := errors.New("it cannot be read")
	for name, test := range map[string]struct {
		report installer.Report
		want   bool
	}{
		"zero":                      {installer.Report{}, false},
		"nothing to compare":        {installer.Report{Complete: true}, true},
		"not complete":              {installer.Report{Packages: []installer.PackageReport{{Status: installer.StatusVerified}}}, false},
		"unfinished":                {installer.Report{Complete: true, Unfinished: true}, false},
		"unread":                    {installer.Report{Complete: true, Unread: []error{failed}}, false},
		"stale":                     {installer.Report{Complete: true, Stale: []error{failed}}, false},
		"zero package":              {pkg(installer.PackageReport{}), false},
		"verified package":          {pkg(installer.PackageReport{Status: installer.StatusVerified}), true},
		"unreadable package":        {pkg(installer.PackageReport{Status: installer.StatusVerified, Err: failed}), false},
		"package of unknown status": {pkg(installer.PackageReport{Status: 99}), false},
		"zero provider":             {provider(installer.ProviderReport{}), false},
		"verified provider":         {provider(installer.ProviderReport{Status: installer.StatusVerified}), true},
		"unreadable provider":       {provider(installer.ProviderReport{Status: installer.StatusVerified, Err: failed}), false},
	} {
		if got := test.report.OK(); got != test.want {
			t.Errorf("%s: OK = %v, want %v", name, got, test.want)
		}
		for _, err := range test.report.Problems() {
			if err.Error() == "" {
				t.Errorf("%s: a problem has no text: %#v", name, err)
			}
		}
	}
}

func TestVerifyOfAnEmptyProject(t *testing.T) {
	t.Parallel()
	dir := writeProject(t, map[string]string{"main.tf": "", ".terraform.lock.hcl": ""}, "")
	report, err := (installer.New(installer.Options{})).Verify(t.Context(), installer.Project{Dir: dir}, installer.VerifyOptions{})
	if err != nil || !report.Complete || !report.OK() {
		t.Errorf("Verify = %+v, %v, want a complete report that is OK", report, err)
	}
}
