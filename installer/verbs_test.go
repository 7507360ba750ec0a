package installer_test

import (
	"encoding"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// brokenProject has a module and a provider that no server has, next to ones that are fine.
func brokenProject(t *testing.T) (*providerWorld, string) {
	t.Helper()
	w := newProviderWorld(t, cloudVersions+`
-- registry/acme/net/aws/1.0.0/main.tf --
-- registry/acme/net/aws/1.1.0/main.tf --
`, modtest.Options{})
	dir := w.project(t, map[string]string{
		"main.tf": required(`cloud = { source = "HOST/acme/cloud", version = "~> 1.0" }`, `gone = { source = "HOST/acme/gone" }`) + `
module "net" {
  source  = "HOST/acme/net/aws"
  version = "1.0.0"
}
`,
		".terraform.lock.hcl": lockedProvider("HOST/acme/cloud", "1.0.0"),
	})
	mustInstall(t, w.in, installer.Project{Dir: dir}, installer.InstallOptions{})
	return w, dir
}

// Errors about providers do not hide the modules, and the other way round.
func TestPartsDoNotHideEachOther(t *testing.T) {
	t.Parallel()
	w, dir := brokenProject(t)
	req := request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeAll}}
	outdated, err := w.in.Outdated(t.Context(), req.Project, installer.OriginOptions{Scope: req.Scope})
	if _, ok := errors.AsType[*installer.ProviderError](err); !ok {
		t.Errorf("Outdated = %v, want a *ProviderError", err)
	}
	if len(outdated.Modules) != 1 || len(outdated.Providers) != 2 || outdated.Modules[0].Latest.String() != "1.1.0" || outdated.Providers[0].Allowed.String() != "1.10.0" {
		t.Errorf("Outdated = %+v, want one call and two providers", outdated)
	}
	only := request{Project: installer.Project{Dir: dir}, InstallOptions: installer.InstallOptions{Scope: installer.ScopeProviders}}
	outdated, err = w.in.Outdated(t.Context(), only.Project, installer.OriginOptions{Scope: only.Scope})
	if failed, ok := errors.AsType[*installer.ProviderError](err); !ok || failed.Provider.Type != "gone" {
		t.Errorf("Outdated of providers: error %v, want one of acme/gone", err)
	}
	if text := w.plain(err.Error()); !strings.HasPrefix(text, "provider HOST/acme/gone: HOST answered 404 Not Found: it has no provider acme/gone") {
		t.Errorf("Outdated of providers: error %q, want one that names the provider once", text)
	}
	if cloud := outdated.Providers[0]; outdated.Modules != nil || len(outdated.Providers) != 2 || cloud.Current.String() != "1.0.0" || cloud.Latest.String() != "2.0.0" || cloud.Constraints.String() != "~> 1.0" {
		t.Errorf("Outdated of providers = %+v, want two providers only", outdated)
	}
	remote, err := w.in.VerifyRemote(t.Context(), req.Project, installer.OriginOptions{Scope: req.Scope})
	if err != nil || len(remote.Modules) != 1 || !remote.Modules[0].OK() || len(remote.Providers) != 1 {
		t.Errorf("VerifyRemote = %+v, %v, want one module that is OK, and the locked provider", remote, err)
	}

	testenv.Must(t, os.RemoveAll(dir+"/.terraform"))
	outdated, err = w.in.Outdated(t.Context(), req.Project, installer.OriginOptions{Scope: req.Scope})
	if _, ok := errors.AsType[*installer.ProviderError](err); !ok || errors.Is(err, installer.ErrNotInstalled) || len(outdated.Modules) != 1 || len(outdated.Providers) != 2 {
		t.Fatalf("Outdated = %+v, %v, want what the lock has, and the error about a provider", outdated, err)
	}
	if p := outdated.Providers[0]; p.Allowed.String() != "1.10.0" || p.Latest.String() != "2.0.0" {
		t.Errorf("Outdated = %+v, want the version that the constraints in the lock allow", p)
	}
	loaded, err := w.in.Load(t.Context(), req.Project, req.load())
	if !errors.Is(err, installer.ErrNotInstalled) || len(loaded.Unresolved) != 1 || len(loaded.Providers) != 2 || loaded.Providers[0].Version.String() != "1.0.0" {
		t.Errorf("Load = %+v, %v, want ErrNotInstalled beside two providers", loaded, err)
	}
	if remote, err := w.in.VerifyRemote(t.Context(), req.Project, installer.OriginOptions{Scope: req.Scope}); !errors.Is(err, installer.ErrNotInstalled) || len(remote.Providers) != 1 {
		t.Errorf("VerifyRemote = %+v, %v, want ErrNotInstalled beside one provider", remote, err)
	}
}

// Each value of an enum has a text that is read back, and unknown values and texts are errors.
func TestEnumTexts(t *testing.T) {
	t.Parallel()
	checkTexts(t, []installer.Dialect{installer.DialectAuto, installer.DialectOpenTofu, installer.DialectTerraform}, "auto", "tofu", "terraform")
	checkTexts(t, []installer.Layout{installer.LayoutLinks, installer.LayoutCopy, installer.LayoutPortable}, "links", "copy", "portable")
	checkTexts(t, []installer.Status{
		installer.StatusUnknown, installer.StatusVerified, installer.StatusChanged, installer.StatusMissing, installer.StatusUnlocked, installer.StatusFormer,
	}, "unknown", "verified", "changed", "missing", "unlocked", "former")
}

type text interface {
	~int
	fmt.Stringer
	encoding.TextMarshaler
}

func checkTexts[T text, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, values []T, texts ...string) {
	t.Helper()
	for i, value := range values {
		got, err := value.MarshalText()
		if err != nil || string(got) != texts[i] || value.String() != texts[i] {
			t.Errorf("%T(%d) is %q, %v and %q, want %q", value, value, got, err, value.String(), texts[i])
		}
		var back T
		if err := P(&back).UnmarshalText([]byte(texts[i])); err != nil || back != value {
			t.Errorf("UnmarshalText(%q) = %v, %v, want %v", texts[i], back, err, value)
		}
	}
	for _, unknown := range []T{-1, T(len(values))} {
		if got, err := unknown.MarshalText(); err == nil {
			t.Errorf("%T(%d).MarshalText = %q, want an error", unknown, unknown, got)
		}
	}
	var back T
	if err := P(&back).UnmarshalText([]byte("something else")); err == nil {
		t.Errorf("%T: UnmarshalText of an unknown text = nil, want an error", back)
	}
}
