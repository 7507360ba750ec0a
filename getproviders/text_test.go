package getproviders_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func TestText(t *testing.T) {
	t.Parallel()
	type values struct {
		Pattern  getproviders.Pattern
		Template getproviders.RepositoryTemplate
	}
	for _, test := range []struct{ pattern, template, want string }{
		{"", "", `{"Pattern":"","Template":""}`},
		{"acme/*", "example.com/${namespace}/${type}", `{"Pattern":"registry.opentofu.org/acme/*","Template":"example.com/${namespace}/${type}"}`},
		{"*/*/*", "", `{"Pattern":"*/*/*","Template":""}`},
		{"example.com:8443/acme/net", "", `{"Pattern":"example.com:8443/acme/net","Template":""}`},
	} {
		var given, got values
		var err error
		if test.pattern != "" {
			given.Pattern, err = getproviders.ParsePattern(test.pattern, addrs.DefaultRegistryHost)
		}
		if test.template != "" && err == nil {
			given.Template, err = getproviders.ParseRepositoryTemplate(test.template)
		}
		testenv.Must(t, err)
		text, err := json.Marshal(given)
		if err != nil || string(text) != test.want {
			t.Errorf("%s becomes %s, %v", test.pattern, text, err)
		}
		if err := json.Unmarshal(text, &got); err != nil || got.Pattern != given.Pattern || got.Template.String() != given.Template.String() {
			t.Errorf("%s becomes %+v, %v", text, got, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Pattern":"a/b/c/d"}`), new(values)); err == nil {
		t.Error("a text that is not a pattern was accepted")
	}
}

type noTransport struct{}

func (noTransport) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("there is no network")
}

func TestZeroValues(t *testing.T) {
	t.Parallel()
	provider := addrs.Provider{Hostname: "registry.example.com", Namespace: "acme", Type: "cloud"}
	platform := addrs.Platform{OS: "linux", Arch: "amd64"}
	noNetwork := &http.Client{Transport: noTransport{}}
	sources := map[string]struct {
		source getproviders.Source
		want   error // of Versions and Package; nil for any
	}{
		"Direct":           {&getproviders.Direct{HTTPClient: noNetwork, Attempts: 1}, disco.ErrUnreachable},
		"NetworkMirror":    {&getproviders.NetworkMirror{}, nil},
		"OCIMirror":        {&getproviders.OCIMirror{}, nil},
		"FilesystemMirror": {getproviders.FilesystemMirror{}, nil},
		"Multi":            {getproviders.Multi(nil), getproviders.ErrNotFound},
		"Method":           {getproviders.Multi{{}}, getproviders.ErrNotFound},
	}
	for name, test := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.source.Versions(t.Context(), provider)
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("Versions = %v, want %v", err, test.want)
			}
			_, err = test.source.Package(t.Context(), provider, versions.MustParse("1.0.0"), platform)
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("Package = %v, want %v", err, test.want)
			}
			_ = test.source.Evidence(provider)
			_ = test.source.Local()
			_ = test.source.Evidence(addrs.Provider{})
		})
	}
	_, _ = getproviders.Pattern{}.String(), getproviders.RepositoryTemplate{}.String()
	_ = getproviders.Listing{}.Numbers()
	_ = getproviders.Version{}.UsableOn(platform)
}

func TestMain(m *testing.M) { os.Exit(testenv.Prepare(m).Run()) }
