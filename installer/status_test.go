package installer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/lockfile"
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
	moved := []installer.ModuleOrigin{{Locked: "a", Now: "a"}, {Locked: "a", Now: "b"}}
	if (*installer.OriginReport)(nil).OK() || (&installer.OriginReport{}).OK() || (&installer.OriginReport{Modules: moved[:1]}).OK() ||
		(&installer.OriginReport{Complete: true, Modules: moved}).OK() || (&installer.OriginReport{Complete: true, Providers: make([]installer.ProviderOrigin, 1)}).OK() ||
		!(&installer.OriginReport{Complete: true, Modules: moved[:1]}).OK() {
		t.Error("a report about origins is OK if and only if it is complete and all of them are")
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

// The methods of nil and zero values say what is missing: by an error, or by a panic if they return none. They
// never succeed with nothing done.
func TestMethodsOfZeroValues(t *testing.T) {
	t.Parallel()
	for _, zero := range []any{
		(*installer.Installer)(nil), (*installer.Session)(nil), &installer.Session{}, (*installer.Report)(nil), &installer.Report{},
		(*installer.OriginReport)(nil), &installer.OriginReport{}, (*installer.Result)(nil), &installer.Result{},
		(*bundle.Bundle)(nil), &bundle.Bundle{}, (*mirror.Mirror)(nil), &mirror.Mirror{}, (*lockfile.File)(nil),
	} {
		value := reflect.ValueOf(zero)
		for i := range value.NumMethod() {
			method := value.Method(i)
			what := fmt.Sprintf("%T (nil: %t).%s", zero, value.IsNil(), value.Type().Method(i).Name)
			var in []reflect.Value
			for j := range method.Type().NumIn() {
				arg := reflect.Zero(method.Type().In(j))
				if arg.Type() == reflect.TypeFor[context.Context]() {
					arg = reflect.ValueOf(t.Context())
				}
				in = append(in, arg)
			}
			out, failed := call(method, in)
			if _, ok := failed.(string); failed != nil && !ok {
				t.Errorf("%s: panic %v, want a text", what, failed)
			}
			n := len(out)
			if n == 0 || method.Type().Out(n-1) != reflect.TypeFor[error]() || strings.HasSuffix(what, "File (nil: true).Check") {
				continue // nothing in a nil lock is wrong
			}
			if out[n-1].IsNil() {
				t.Errorf("%s: no error", what)
			}
		}
	}
	in := installer.New(installer.Options{})
	for what, err := range map[string]error{
		"VerifyStore":        second(installerinternal.VerifyStore(t.Context(), in, nil)),
		"ImportStore":        second(installerinternal.ImportStore(t.Context(), in, nil)),
		"a nil store":        second(in.Load(t.Context(), installer.Project{Dir: t.TempDir(), Stores: make([]installer.PackageStore, 1)}, installer.LoadOptions{})),
		"bundle.Create":      second(bundle.Create(t.Context(), nil, nil, installer.LockedOptions{}, io.Discard)),
		"mirror.Open":        second(mirror.Open(nil, "oci://example.com/mirror")),
		"mirror.Push":        second(mirror.Push(t.Context(), in, nil, installer.LockedOptions{}, nil)),
		"mirror.Repair":      second(mirror.Repair(t.Context(), in, nil, installer.LockedOptions{}, &mirror.Mirror{})),
		"mirror.Status":      second(mirror.Status(t.Context(), nil, nil, installer.ScopeAll)),
		"mirror.Push of nil": second(mirror.Push(t.Context(), nil, nil, installer.LockedOptions{}, nil)),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// call returns the value of a panic as failed.
func call(method reflect.Value, in []reflect.Value) (out []reflect.Value, failed any) {
	defer func() { failed = recover() }()
	if method.Type().IsVariadic() {
		in = in[:len(in)-1]
	}
	return method.Call(in), nil
}
