package registryclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// calls are the four questions. good is an answer to each.
var calls = map[string]func(ctx context.Context, c *registryclient.Client) error{
	"versions": func(ctx context.Context, c *registryclient.Client) error {
		_, err := c.ModuleVersions(ctx, pkg)
		return err
	},
	"location": func(ctx context.Context, c *registryclient.Client) error {
		_, err := c.PackageLocation(ctx, pkg, one)
		return err
	},
	"provider versions": func(ctx context.Context, c *registryclient.Client) error {
		_, err := c.ProviderVersions(ctx, cloud)
		return err
	},
	"provider package": func(ctx context.Context, c *registryclient.Client) error {
		_, err := c.ProviderPackage(ctx, cloud, one, linux)
		return err
	},
}

func good(t *testing.T) string {
	return answerWith(t, map[string]any{"modules": []any{map[string]any{}}, "location": "./x.zip", "versions": nil})
}

func TestStatuses(t *testing.T) {
	t.Parallel()
	tests := map[int]error{
		202: registryclient.ErrUnexpectedStatus,
		304: registryclient.ErrUnexpectedStatus,
		401: registryclient.ErrUnauthorized,
		403: registryclient.ErrForbidden,
		404: registryclient.ErrNotFound,
		422: registryclient.ErrUnexpectedStatus,
		429: registryclient.ErrUnexpectedStatus,
		503: registryclient.ErrUnexpectedStatus,
	}
	for name, about := range map[string]struct {
		registryclient.RequestError
		missing string // what a 404 means
	}{
		"versions":          {registryclient.RequestError{Package: pkg, URL: origin + versionsPath}, "it has no module acme/net/aws,"},
		"location":          {registryclient.RequestError{Package: pkg, Version: one, URL: origin + locationPath}, "it has no module acme/net/aws 1.0.0,"},
		"provider versions": {registryclient.RequestError{Provider: cloud, URL: origin + providerVersionsPath}, "it has no provider acme/cloud,"},
		"provider package":  {registryclient.RequestError{Provider: cloud, Version: one, Platform: linux, URL: origin + providerPackagePath}, "it has no provider acme/cloud 1.0.0 for linux_amd64"},
	} {
		for status, want := range tests {
			if status == http.StatusNotFound && about.Platform == linux {
				want = registryclient.ErrUnsupportedPlatform
			}
			err := calls[name](t.Context(), client(serve(t, answer(status, "https://example.com/x.zip", at("https://example.com/x.zip")))))
			e, ok := errors.AsType[*registryclient.RequestError](err)
			if !ok || !errors.Is(err, want) {
				t.Errorf("%s, status %d: %v, want %v", name, status, err, want)
				continue
			}
			if e.StatusCode != status || e.Package != about.Package || e.Provider != about.Provider || e.Version != about.Version || e.Platform != about.Platform {
				t.Errorf("%s, status %d: %+v", name, status, e)
			}
			if answered, ok := errors.AsType[*httpx.StatusError](err); !ok || answered.Answer.StatusCode != status || answered.Answer.URL().String() != about.URL {
				t.Errorf("%s, status %d: %v does not wrap the answer", name, status, err)
			}
			if begin := fmt.Sprintf("%s: %s answered %d ", about.Subject(), pkg.Host, status); !strings.HasPrefix(err.Error(), begin) || status == http.StatusNotFound && !strings.Contains(err.Error(), about.missing) {
				t.Errorf("%s, status %d: %q does not begin with %q, or does not say what is missing", name, status, err, begin)
			}
		}
	}
	for want, about := range map[string]registryclient.RequestError{
		"module example.com/acme/net/aws": {Package: pkg}, "module example.com/acme/net/aws 1.0.0": {Package: pkg, Version: one},
		"provider example.com/acme/cloud 1.0.0 for linux_amd64": {Provider: cloud, Version: one, Platform: linux},
	} {
		if got := about.Subject(); got != want {
			t.Errorf("Subject = %q, want %q", got, want)
		}
	}
	if err := calls["versions"](t.Context(), client(serve(t, answer(204, "", "")))); !errors.Is(err, registryclient.ErrUnexpectedStatus) {
		t.Errorf("versions, status 204: %v, want ErrUnexpectedStatus", err)
	}
}

func TestMessageOfTheServer(t *testing.T) {
	t.Parallel()
	web := serve(t, answer(422, "", "\x1b[2Jno\r\nlevel=info "+strings.Repeat("x", 10_000)))
	err := calls["versions"](t.Context(), client(web))
	webtest.CheckText(t, err.Error())
	if !strings.Contains(err.Error(), `\x1b[2Jno\r\nlevel=info xxx`) || len(err.Error()) > 1000 {
		t.Errorf("the message is %q", err)
	}
}

// TestMessageInJSON has servers that describe errors in JSON. Users see only the texts.
func TestMessageInJSON(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"errors":["no such module","ask the team"]}`:                           "no such module; ask the team",
		`{"errors":[{"status":"401","title":"unauthorized","detail":"log in"}]}`: "log in",
		`{"errors":[{"status":"401","title":"unauthorized"}]}`:                   "unauthorized",
		`{"message":"401 Unauthorized"}`:                                         "401 Unauthorized",
		`{"error":{"message":"expired"}}`:                                        "expired",
		`{"status":401}`:                                                         "",
		`{}`:                                                                     "",
		`["a"]`:                                                                  "",
		`{"errors":["` + strings.Repeat("x", 10_000):                             "",
		"{errors":       "",
		"please log in": "please log in",
	} {
		web := serve(t, answer(401, "", body))
		e, ok := errors.AsType[*registryclient.RequestError](calls["versions"](t.Context(), client(web)))
		if !ok || e.Message != want {
			t.Errorf("%.60s: the message is %q, want %q", body, e.Message, want)
		}
		if strings.Contains(e.Error(), `{`) {
			t.Errorf("%.60s: the error has JSON: %v", body, e)
		}
	}
}

func TestServerThatRepeatsTheToken(t *testing.T) {
	t.Parallel()
	c := client(serve(t, answer(403, "", "Bearer "+webtest.Canary+": the token '"+webtest.Canary+"' is not allowed")))
	c.Services = services{base: base, token: webtest.Canary}
	err := calls["versions"](t.Context(), c)
	webtest.CheckText(t, err.Error())
	if !strings.Contains(err.Error(), "REDACTED: the token 'REDACTED' is not allowed") {
		t.Errorf("the message is %q", err)
	}
	if e, ok := errors.AsType[*registryclient.RequestError](err); !ok || e.Message != "REDACTED: the token 'REDACTED' is not allowed" {
		t.Errorf("the field Message is wrong in %#v", err)
	}
}

func TestCredentialsSent(t *testing.T) {
	t.Parallel()
	helper := errors.New("the helper broke")
	tests := map[string]struct {
		services services
		wants    []string
	}{
		"none":    {services{base: base}, []string{"no credentials were sent"}},
		"refused": {services{base: base, token: webtest.Canary}, []string{"that were sent"}},
		"broken":  {services{base: base, err: helper}, []string{"the helper broke"}},
	}
	for name, test := range tests {
		for _, status := range []int{401, 403} {
			c := client(serve(t, answer(status, "", "")))
			c.Services = test.services
			err := calls["location"](t.Context(), c)
			webtest.CheckText(t, err.Error())
			for _, want := range test.wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: the message %q lacks %q", name, err, want)
				}
			}
			if errors.Is(err, helper) != (test.services.err != nil) {
				t.Errorf("%s: errors.Is(err, helper) = %v", name, errors.Is(err, helper))
			}
		}
	}
}

func TestUnreadableCredentialsAreNoFailure(t *testing.T) {
	t.Parallel()
	c := client(serve(t, text(`{"modules":[{}]}`)))
	c.Services = services{base: base, err: errors.New("the helper broke")}
	if err := calls["versions"](t.Context(), c); err != nil {
		t.Errorf("ModuleVersions = %v, want an anonymous request", err)
	}
}

func TestPassingFailures(t *testing.T) {
	t.Parallel()
	for name, ask := range calls {
		failures := 0
		web := serve(t, func(w http.ResponseWriter, r *http.Request) {
			failures++
			switch failures {
			case 1:
				w.WriteHeader(http.StatusBadGateway)
			case 2: // the connection is cut within the body
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, "{")
				panic(http.ErrAbortHandler)
			case 3:
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				text(good(t))(w, r)
			}
		})
		if err := ask(t.Context(), client(web)); err != nil || failures != 4 {
			t.Errorf("%s: %v after %d requests, want success after 4", name, err, failures)
		}
	}
}

func TestServerThatAsksForTooMuchTime(t *testing.T) {
	t.Parallel()
	web := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	err := calls["versions"](t.Context(), client(web))
	if err == nil || !strings.Contains(err.Error(), "1h0m0s") || len(web.Requests()) != 1 {
		t.Errorf("ModuleVersions = %v after %d requests", err, len(web.Requests()))
	}
	if e, ok := errors.AsType[*registryclient.RequestError](err); !ok || e.RetryAfter != time.Hour {
		t.Errorf("the field RetryAfter is wrong in %#v", err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for name, ask := range calls {
		err := ask(t.Context(), client(webtest.New(t)))
		e, ok := errors.AsType[*registryclient.RequestError](err)
		if !ok || e.StatusCode != 0 || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	for name, ask := range calls {
		ctx, cancel := context.WithCancel(t.Context())
		web := serve(t, func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		err := ask(ctx, client(web))
		if _, ok := errors.AsType[*registryclient.RequestError](err); !ok || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want a *RequestError over context.Canceled", name, err)
		}
	}
}

func TestZeroValues(t *testing.T) {
	t.Parallel()
	c := &registryclient.Client{}
	_, versionsErr := c.ModuleVersions(t.Context(), addrs.ModuleRegistryPackage{})
	_, locationErr := c.PackageLocation(t.Context(), addrs.ModuleRegistryPackage{}, versions.Version{})
	_, providersErr := c.ProviderVersions(t.Context(), addrs.Provider{})
	_, packageErr := c.ProviderPackage(t.Context(), addrs.Provider{}, versions.Version{}, addrs.Platform{})
	_, _, renamedErr := c.ProviderRenamed(t.Context(), addrs.Provider{})
	downloadErr := c.Download(t.Context(), addrs.ModuleRegistryPackage{}, registryclient.Location{}, io.Discard)
	for name, err := range map[string]error{
		"ModuleVersions": versionsErr, "PackageLocation": locationErr, "Download": downloadErr,
		"ProviderVersions": providersErr, "ProviderPackage": packageErr, "ProviderRenamed": renamedErr,
	} {
		if _, ok := errors.AsType[*registryclient.RequestError](err); !ok {
			t.Errorf("%s of a zero Client = %v, want a *RequestError", name, err)
		}
	}
	c.Services = services{base: base}
	if _, err := c.PackageLocation(t.Context(), pkg, versions.Version{}); err == nil {
		t.Error("PackageLocation of no version: no error")
	}
	_ = registryclient.ProviderVersion{}.Compatible()
	_ = c.Fresh()
}
