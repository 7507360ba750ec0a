package registryclient_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"go.uber.org/goleak"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	origin       = "https://example.com"
	base         = origin + "/v1/"
	versionsPath = "/v1/acme/net/aws/versions"
	locationPath = "/v1/acme/net/aws/1.0.0/download"
)

var (
	pkg = addrs.ModuleRegistryPackage{Host: "example.com", Namespace: "acme", Name: "net", TargetSystem: "aws"}
	one = versions.MustParse("1.0.0")
)

// services has one base URL for modules and one for providers, for all hosts, and a token for example.com.
type services struct {
	base      string
	providers string // the base URL of providers, if it is not below origin
	token     string
	err       error // the result of Authorize
}

func (s services) ServiceURL(_ context.Context, _ addrs.Hostname, id string) (*url.URL, error) {
	switch id {
	case "modules.v1":
		return url.Parse(s.base)
	case "providers.v1":
		return url.Parse(cmp.Or(s.providers, origin+"/p1/"))
	}
	return nil, fmt.Errorf("asked for the service %q", id)
}

func (s services) Authorize(_ context.Context, host addrs.Hostname, req *http.Request) error {
	if s.err == nil && s.token != "" && host == pkg.Host && req.URL.Scheme == "https" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	return s.err
}

func (s services) Refused(context.Context, addrs.Hostname, *http.Request) bool { return false }

func client(web *webtest.Web) *registryclient.Client {
	return &registryclient.Client{Services: services{base: base}, HTTPClient: web.Client(), RetryWait: 1}
}

func text(body string) http.HandlerFunc { return answer(http.StatusOK, "", body) }

// answer returns a handler that answers with a status, a body, and an X-Terraform-Get header
// unless header is empty.
func answer(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if header != "" {
			w.Header().Set("X-Terraform-Get", header)
		}
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = io.WriteString(w, body)
		}
	}
}

func serve(t *testing.T, h http.HandlerFunc) *webtest.Web {
	t.Helper()
	web := webtest.New(t)
	web.Serve(origin, h)
	return web
}

func redirectTo(to string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) }
}

func at(location string) string { return fmt.Sprintf(`{"location": %q}`, location) }

type noProviders struct {
	services
	err error
}

func (n noProviders) ServiceURL(context.Context, addrs.Hostname, string) (*url.URL, error) {
	return nil, n.err
}
