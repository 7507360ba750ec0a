package disco_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestServiceURL(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"/v1/modules/":                       modulesURL,
		"/v1/modules":                        modulesURL,
		"modules/":                           origin + "/.well-known/modules/",
		"../v1/modules":                      modulesURL,
		"//other.example.com/m":              "https://other.example.com/m/",
		"https://other.example.com:8443":     "https://other.example.com:8443/",
		"https://other.example.com/a%2Fb":    "https://other.example.com/a%2Fb/",
		"https://other.example.com/m#part":   "https://other.example.com/m/",
		"https://other.example.com/m?x=1":    "https://other.example.com/m/?x=1",
		"https://10.0.0.1/m/":                "https://10.0.0.1/m/",
		"":                                   origin + wellKnown + "/",
		"HTTPS://other.example.com/Modules/": "https://other.example.com/Modules/",
	}
	for given, want := range tests {
		web := webtest.New(t)
		web.Serve(origin, document(serviceMap("modules.v1", given)))
		u, err := client(web).ServiceURL(t.Context(), host, "modules.v1")
		if err != nil {
			t.Errorf("%q: %v", given, err)
			continue
		}
		if u.String() != want {
			t.Errorf("%q: ServiceURL = %q, want %q", given, u, want)
		}
	}
}

func TestOneRequestForAll(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve(origin, document(serviceMap("modules.v1", modulesURL)))
	c := client(web)
	for range 3 {
		u, err := c.ServiceURL(t.Context(), host, "modules.v1")
		if err != nil || u.String() != modulesURL {
			t.Fatalf("ServiceURL = %v, %v, want %q", u, err, modulesURL)
		}
		u.Host = "changed" // each caller has its own
	}
	if _, err := c.ServiceURL(t.Context(), host, "providers.v1"); !errors.Is(err, disco.ErrServiceNotProvided) {
		t.Errorf("other service: %v, want ErrServiceNotProvided", err)
	}
	if got := len(web.Requests()); got != 1 {
		t.Errorf("%d requests, want 1", got)
	}
}

func TestFailuresAreNotRemembered(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	c := client(web)
	if _, err := c.ServiceURL(t.Context(), host, "modules.v1"); !errors.Is(err, disco.ErrUnreachable) {
		t.Errorf("without a server: %v, want ErrUnreachable", err)
	}
	web.Serve(origin, document(serviceMap("modules.v1", modulesURL)))
	if _, err := c.ServiceURL(t.Context(), host, "modules.v1"); err != nil {
		t.Errorf("with a server: %v", err)
	}
}

func TestRetriesPassingFailures(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	failures := 2
	web.Serve(origin, func(w http.ResponseWriter, r *http.Request) {
		if failures--; failures >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		document(serviceMap("modules.v1", modulesURL))(w, r)
	})
	if _, err := client(web).ServiceURL(t.Context(), host, "modules.v1"); err != nil {
		t.Error(err)
	}
}

func TestForcedServices(t *testing.T) {
	t.Parallel()
	c := &disco.Client{
		HTTPClient: webtest.New(t).Client(),
		ForcedServices: map[addrs.Hostname]map[string]any{
			"example.com":             {"modules.v1": "https://mirror.example.com/m", "other.v1": 7},
			"local.example.com":       {"modules.v1": "http://localhost:8080/m/"},
			"relative.example.com":    {"modules.v1": "/m/"},
			"plain.example.com":       {"modules.v1": "http://mirror.example.com/m/"},
			"empty.example.com":       nil,
			"xn--rksmrgs-5wao1o.test": {"modules.v1": "https://mirror.example.com/m"},
		},
	}
	wants := map[addrs.Hostname]string{
		"example.com":             "https://mirror.example.com/m/",
		"local.example.com":       "http://localhost:8080/m/",
		"relative.example.com":    "https://relative.example.com/m/",
		"xn--rksmrgs-5wao1o.test": "https://mirror.example.com/m/",
	}
	for h, want := range wants {
		u, err := c.ServiceURL(t.Context(), h, "modules.v1")
		if err != nil || u.String() != want {
			t.Errorf("%s: ServiceURL = %v, %v, want %q", h, u, err, want)
		}
	}
	for h, want := range map[addrs.Hostname]error{"plain.example.com": disco.ErrInvalidAnswer, "empty.example.com": disco.ErrServiceNotProvided} {
		_, err := c.ServiceURL(t.Context(), h, "modules.v1")
		if e, ok := errors.AsType[*disco.DiscoveryError](err); !errors.Is(err, want) || !ok || e.URL != "" {
			t.Errorf("%s: %v, want %v without a URL", h, err, want)
		}
	}
	if _, err := c.ServiceURL(t.Context(), "example.com", "other.v1"); !errors.Is(err, disco.ErrVersionNotSupported) {
		t.Errorf("a number as URL: %v, want ErrVersionNotSupported", err)
	}
}

func TestCanceledCaller(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	web.Serve(origin, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	_, err := client(web).ServiceURL(ctx, host, "modules.v1")
	if _, ok := errors.AsType[*disco.DiscoveryError](err); !ok || !errors.Is(err, context.Canceled) {
		t.Errorf("ServiceURL = %v, want a *DiscoveryError over context.Canceled", err)
	}
}

// TestDocumentsAreCounted counts for a run what documents of discovery take up until it ends: the eighth one of the largest
// size exceeds its limit.
func TestDocumentsAreCounted(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	text := serviceMap("modules.v1", modulesURL)
	text += strings.Repeat(" ", 1<<20-len(text))
	c := client(web)
	testenv.LastExceedsRun(t, 8, func(ctx context.Context, i int) error {
		host := addrs.Hostname(fmt.Sprintf("h%d.example.com", i))
		web.Serve("https://"+string(host), document(text))
		_, err := c.ServiceURL(ctx, host, "modules.v1")
		return err
	})
}
