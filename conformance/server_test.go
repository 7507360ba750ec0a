package conformance_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/conformance"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const files = `
-- registry/acme/net/aws/1.0.0/main.tf --
output "id" { value = "old" }
-- registry/acme/net/aws/1.2.0/main.tf --
output "id" { value = "net" }
-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud --
not a program
-- providers/acme/cloud/1.0.0/darwin_arm64/terraform-provider-cloud --
not a program either
-- oci/acme%2Fnet/1.0.0/main.tf --
output "id" { value = "old" }
-- oci/acme%2Fnet/1.2.0/main.tf --
output "id" { value = "net" }
`

type mistake struct {
	// rule is the rule that the server breaks.
	rule string
	// prepare makes the mistake in what the server has. nil means that the mistake is one of the
	// answers.
	prepare func(*modtest.World) error
	// alias is a name in paths, and the one that the server has instead.
	alias [2]string
	// noProgram makes the archives of providers have no program.
	noProgram bool
	// at matches the paths of the requests that are answered wrong. If method is "", only GET
	// requests are.
	at, method string
	// status replaces the status of the answer, unless it is 0.
	status int
	// header replaces a field of the answer: "Name: value".
	header string
	// old and new are a part of the body and what stands there instead. If old is "", new replaces
	// the body, unless it is "" too.
	old, new string
	// second makes only the second answer and later ones wrong.
	second bool
}

func (m *mistake) matches(r *http.Request) bool {
	method := m.method
	if method == "" {
		method = http.MethodGet
	}
	return m.at != "" && r.Method == method && regexp.MustCompile(m.at).MatchString(r.URL.Path)
}

func (m *mistake) apply(r *http.Response) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	switch {
	case m.old != "":
		body = bytes.ReplaceAll(body, []byte(m.old), []byte(m.new))
	case m.new != "":
		body = []byte(m.new)
	}
	if m.status != 0 {
		r.StatusCode = m.status
	}
	if r.Request.Method != http.MethodHead {
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if name, value, found := strings.Cut(m.header, ": "); found {
		r.Header.Set(name, value)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

type token string

func (t token) ForHost(context.Context, addrs.Hostname) (disco.Credentials, error) {
	return disco.BearerToken(t), nil
}

func serve(t *testing.T, m mistake, opts modtest.Options) (host string, client conformance.Client) {
	t.Helper()
	opts.Archives = true
	tree := files
	if m.noProgram {
		tree = strings.ReplaceAll(tree, "terraform-provider-cloud", "README.md")
	}
	world := modtest.NewWith(t, modtest.Txtar(tree), opts)
	if m.prepare != nil {
		testenv.Must(t, m.prepare(world))
	}
	testenv.Must(t, world.PushOCIProvider("mirror/cloud", "acme/cloud", "1.0.0"))
	target, err := url.Parse(world.URL())
	testenv.Must(t, err)
	m.header = strings.ReplaceAll(m.header, "PLAIN", world.PlainURL())
	trusting := http.DefaultTransport.(*http.Transport).Clone()
	trusting.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	t.Cleanup(trusting.CloseIdleConnections)
	var matching atomic.Int64
	proxy := httptest.NewTLSServer(&httputil.ReverseProxy{
		Transport: trusting,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host
			r.Out.URL.Path = strings.Replace(r.Out.URL.Path, m.alias[0], m.alias[1], 1)
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			if !m.matches(r.Request) || m.second && matching.Add(1) == 1 {
				return nil
			}
			return m.apply(r)
		},
	})
	t.Cleanup(proxy.Close)
	client = conformance.Client{
		HTTPClient: &http.Client{Transport: trusting},
		OCICredentials: func(context.Context, string, string) (getmodules.OCICredential, error) {
			return getmodules.OCICredential{Username: opts.OCIUser, Password: opts.OCIPassword}, nil
		},
	}
	if opts.Token != "" {
		client.Credentials = token(opts.Token)
	}
	return strings.TrimPrefix(proxy.URL, "https://"), client
}

func check(t *testing.T, rule, host string, client conformance.Client) *conformance.Report {
	t.Helper()
	var report *conformance.Report
	var err error
	switch protocol, subject, _ := strings.Cut(rule, "."); {
	case protocol == "modules" || protocol == "discovery":
		report, err = client.ModuleRegistry(t.Context(), addrs.ModuleRegistryPackage{Host: addrs.Hostname(host), Namespace: "acme", Name: "net", TargetSystem: "aws"})
	case protocol == "providers":
		report, err = client.ProviderRegistry(t.Context(), addrs.Provider{Hostname: addrs.Hostname(host), Namespace: "acme", Type: "cloud"})
	case strings.HasPrefix(subject, "provider"):
		report, err = client.OCIRepository(t.Context(), "oci://"+host+"/mirror/cloud")
	default:
		report, err = client.OCIRepository(t.Context(), "oci://"+host+"/acme/net")
	}
	testenv.Must(t, err)
	return report
}

// TestGoodServers checks servers without mistakes. Together, they are compared with all rules.
func TestGoodServers(t *testing.T) {
	t.Parallel()
	checked := map[string]bool{}
	for name, opts := range map[string]modtest.Options{
		"public": {}, "private": {Token: "hunter22"}, "headers": {HeaderLocations: true},
		"with a password": {OCIUser: "reader", OCIPassword: "hunter22"}, "with tokens": {OCIBearer: true},
	} {
		host, client := serve(t, mistake{}, opts)
		for _, rule := range []string{"modules", "providers", "oci.module", "oci.provider"} {
			report := check(t, rule, host, client)
			if err := report.Err(); err != nil || !report.OK() {
				t.Errorf("%s: %s: %v", name, rule, err)
			}
			for _, id := range report.Checked {
				checked[id] = true
			}
		}
	}
	for rule := range conformance.Rules() {
		if !checked[rule.ID] {
			t.Errorf("no server is compared with rule %s", rule.ID)
		}
	}
}

// TestMistakes checks servers that have one mistake each. There is one for each rule.
func TestMistakes(t *testing.T) {
	t.Parallel()
	mistakes := slices.Concat(discoveryMistakes, moduleMistakes, providerMistakes, tagMistakes, manifestMistakes)
	tried := map[string]bool{}
	for _, m := range mistakes {
		tried[m.rule] = true
		t.Run(m.rule, func(t *testing.T) {
			t.Parallel()
			host, client := serve(t, m, modtest.Options{})
			report := check(t, m.rule, host, client)
			var broken []string
			for _, v := range report.Violations {
				broken = append(broken, v.Rule)
			}
			if !slices.Contains(broken, m.rule) || report.OK() || report.Err() == nil {
				t.Errorf("the violations are %q", report.Violations)
			}
		})
	}
	for rule := range conformance.Rules() {
		if !tried[rule.ID] {
			t.Errorf("no server breaks rule %s", rule.ID)
		}
	}
}
