package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// messagesFile has the text output for each cell: the cause, which names the host as HOST, and one remedy.
const messagesFile = "testdata/network_messages.txtar"

const messagesWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
# registry
-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud --
provider
-- git/tools.git/v1.0.0/main.tf --
# git
-- archives/n.zip/main.tf --
# zip
-- oci/db/1.0.0/main.tf --
# oci
`

const (
	moduleNeeded   = "module \"m\" {\n  source  = \"HOST/acme/net/aws\"\n  version = \"~> 1.0\"\n}\n"
	providerNeeded = "terraform {\n  required_providers {\n    cloud = {\n      source  = \"HOST/acme/cloud\"\n      version = \"~> 1.0\"\n    }\n  }\n}\n"
	imageNeeded    = "module \"m\" {\n  source = \"oci://HOST/db?tag=1.0.0\"\n}\n"
	cloudFiles     = "/providers/acme/cloud/1.0.0/terraform-provider-cloud_1.0.0_"
)

// askedHost is a kind of host, and a project that needs it.
type askedHost struct {
	name, config, cli string
	// path is a prefix of the paths of the requests to it.
	path string
	// pointer is the answer of another host that names it, as OTHER. Without it, the configuration does.
	pointer modtest.Fault
	// isNamed says that the host can be another one than the servers, and isRedirected that the server sends clients there.
	isNamed, isRedirected bool
}

var askedHosts = []askedHost{
	{name: "discovery for a module", config: moduleNeeded, path: "/.well-known/", isNamed: true},
	{name: "discovery for a provider", config: providerNeeded, path: "/.well-known/", isNamed: true},
	{name: "module registry", config: moduleNeeded, path: "/v1/modules/", pointer: modtest.Fault{
		Path: "/.well-known/", Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"modules.v1": "https://OTHER/v1/modules/"}`}},
	{name: "provider registry", config: providerNeeded, path: "/v1/providers/", pointer: modtest.Fault{
		Path: "/.well-known/", Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"providers.v1": "https://OTHER/v1/providers/"}`}},
	{name: "archive of a module", config: "module \"m\" {\n  source = \"https://HOST/archives/n.zip\"\n}\n", path: "/archives/", isNamed: true},
	{name: "archive of a provider", config: providerNeeded, path: cloudFiles + "linux_amd64.zip", isRedirected: true},
	{name: "sums of a provider", config: providerNeeded, path: cloudFiles + "SHA256SUMS.sig", isRedirected: true},
	{name: "mirror of providers", config: strings.Replace(providerNeeded, "HOST", "registry.example.com", 1), path: "/mirror/", isNamed: true,
		cli: "provider_installation {\n  network_mirror {\n    url = \"https://HOST/mirror/\"\n  }\n}\n"},
	{name: "git server", config: "module \"m\" {\n  source = \"git::https://HOST/git/tools.git?ref=v1.0.0\"\n}\n", path: "/git/", isNamed: true},
	{name: "OCI registry", config: imageNeeded, path: "/v2/", isNamed: true},
	{name: "token server", config: imageNeeded, path: "/oci/token", pointer: modtest.Fault{
		Path: "/v2/", Status: http.StatusUnauthorized, Header: http.Header{"WWW-Authenticate": {`Bearer realm="https://OTHER/oci/token",service="x",scope="repository:db:pull"`}}}},
}

// hostFault is a fault of a host, or host in its place.
type hostFault struct {
	name  string
	fault modtest.Fault
	host  string
}

func hostFaults(t *testing.T) []hostFault {
	t.Helper()
	var all []hostFault
	for _, status := range []int{401, 403, 404, 408, 429, 500, 502, 503} {
		all = append(all, hostFault{name: fmt.Sprint(status), fault: modtest.Fault{Status: status, Header: http.Header{"Retry-After": {"0"}}}})
	}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = discardLog
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	return append(all,
		hostFault{name: "a web page", fault: modtest.Fault{Status: http.StatusOK, Body: "<html>log in</html>", Header: http.Header{"Content-Type": {"text/html"}}}},
		hostFault{name: "no answer", fault: modtest.Fault{Delay: time.Minute}},
		hostFault{name: "reset", host: resetting(t)},
		hostFault{name: "unknown authority", host: untrusted.Listener.Addr().String()},
		hostFault{name: "no such host", host: "nowhere.invalid"},
	)
}

// TestNetworkMessages checks what an installation prints about each fault of each kind of host.
func TestNetworkMessages(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	table, err := txtar.ParseFile(messagesFile)
	testenv.Must(t, err)
	want := map[string]string{}
	for _, file := range table.Files {
		want[file.Name] = string(file.Data)
	}
	var mu sync.Mutex
	got := map[string]string{}
	faults := hostFaults(t)
	t.Run("hosts", func(t *testing.T) {
		for i, host := range askedHosts {
			t.Run(host.name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, modtest.NewWith(t, modtest.Txtar(messagesWorld), modtest.Options{OCIBearer: true}),
					"TF_REGISTRY_DISCOVERY_RETRY=1", "TF_REGISTRY_CLIENT_TIMEOUT=1", "COTTER_GIT_BACKEND=auto")
				for k, fault := range faults {
					if !*testenv.Exhaustive && i > 0 && k > 0 {
						continue // each fault of the first host, and the first fault of each host
					}
					cell := host.name + ", " + fault.name
					text := host.message(t, s, fault)
					mu.Lock()
					got[cell] = text
					mu.Unlock()
					if diff := cmp.Diff(want[cell], text); diff != "" && !*update {
						t.Errorf("%s (-want +got):\n%s", cell, diff)
					}
				}
			})
		}
	})
	if !*update {
		return
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "What `cotter install` prints about each fault of each kind of host, without the excerpt of the source.")
	for _, host := range askedHosts {
		for _, fault := range faults {
			cell := host.name + ", " + fault.name
			text, ok := got[cell]
			if !ok {
				text, ok = want[cell], want[cell] != ""
			}
			if ok {
				fmt.Fprintf(&b, "-- %s --\n%s", cell, text)
			}
		}
	}
	testenv.WriteFile(t, messagesFile, b.String())
}

var headline = regexp.MustCompile(`(?m)^Error: .* \(main\.tf:[23]\): `)

// message returns the cause and the remedy that an installation prints.
func (h askedHost) message(t *testing.T, s *site, f hostFault) string {
	t.Helper()
	asked := string(s.world.Host())
	if h.pointer.Path != "" {
		asked = strings.Replace(asked, "127.0.0.1", "localhost", 1)
	}
	if f.host != "" {
		asked = f.host
	}
	named := asked
	if h.pointer.Path != "" {
		named = string(s.world.Host())
	}
	var faults []modtest.Fault
	if h.pointer.Path != "" {
		pointer := h.pointer
		pointer.Body = strings.ReplaceAll(pointer.Body, "OTHER", asked)
		pointer.Header = pointer.Header.Clone()
		for _, values := range pointer.Header {
			values[0] = strings.ReplaceAll(values[0], "OTHER", asked)
		}
		faults = append(faults, pointer)
	}
	switch {
	case f.host == "":
		fault := f.fault
		fault.Path = h.path
		faults = append(faults, fault)
	case h.isRedirected:
		faults = append(faults, modtest.Fault{Path: h.path, Status: http.StatusFound, Header: http.Header{"Location": {"https://" + f.host + h.path}}})
		named = string(s.world.Host())
	}
	s.world.SetFaults(faults...)
	remove(t, s.project)
	testenv.WriteFile(t, filepath.Join(s.project, "main.tf"), strings.ReplaceAll(h.config, "HOST", named))
	testenv.WriteFile(t, filepath.Join(s.home, "cli.tfrc"), strings.ReplaceAll(h.cli, "HOST", asked))
	var env []string
	if f.fault.Delay > 0 {
		// An installed git has its own patience, of two minutes.
		env = []string{testStallTimeout + "=2s", "COTTER_GIT_BACKEND=go"}
	}
	end := s.run("install", env...)
	if end.status != 1 || len(headline.FindAllString(end.out, -1)) != 1 {
		t.Errorf("%s, %s: status %d, want 1 and one error with its place:\n%s", h.name, f.name, end.status, end.out)
	}
	text, remedies := withoutExcerpt(end.out)
	if remedies != 1 || !strings.Contains(text, asked) {
		t.Errorf("%s, %s: %d remedies, want one, and the host %s:\n%s", h.name, f.name, remedies, asked, end.out)
	}
	if h.name == "git server" && f.name == "reset" { // of which git says different things
		text = regexp.MustCompile(`(cannot be reached: ).*`).ReplaceAllString(text, "${1}REASON")
	}
	return strings.NewReplacer(asked, "HOST", named, "NAMED").Replace(text)
}

// withoutExcerpt returns the cause and the remedies of an error, and how many remedies there are.
func withoutExcerpt(output string) (text string, remedies int) {
	for line := range strings.Lines(output) {
		if line == "\n" || strings.HasPrefix(line, " ") {
			continue // the excerpt, and who requires a provider
		}
		if !strings.HasPrefix(line, "Error: ") {
			remedies++
		}
		text += headline.ReplaceAllString(line, "")
	}
	return text, remedies
}

// TestRequestedHost checks messages that depend on settings: they are about the host that was asked, and what was sent.
func TestRequestedHost(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	git := strings.Replace(imageNeeded, "oci://HOST/db?tag=1.0.0", "git::https://git.example.com/tools.git?ref=v1.0.0", 1)
	insteadOf := func(base string) []string {
		return []string{"COTTER_GIT_BACKEND=auto", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + base + ".insteadOf", "GIT_CONFIG_VALUE_0=https://git.example.com/"}
	}
	for _, test := range []struct {
		name, config string
		options      modtest.Options
		docker       string // the login of docker for HOST
		env          func(host string) []string
		want         string
	}{
		{
			name: "an OCI registry that challenges with Basic", config: imageNeeded, options: modtest.Options{OCIUser: "ci", OCIPassword: "secret"},
			want: "HOST answered 401 Unauthorized: no credentials were sent\nRun `docker login HOST`.\n",
		},
		{
			name: "an OCI registry with another password", config: imageNeeded, options: modtest.Options{OCIUser: "ci", OCIPassword: "secret"}, docker: "ci:wrong",
			want: "HOST answered 401 Unauthorized: it does not accept the credentials that were sent\nCheck that they are valid and allow this. `cotter doctor` shows where the credentials for HOST come from.\n",
		},
		{
			name: "a token server that knows another password", config: imageNeeded, options: modtest.Options{OCIUser: "ci", OCIPassword: "secret", OCIBearer: true}, docker: "ci:wrong",
			want: "HOST answered 401 Unauthorized: it does not accept the credentials that were sent\nCheck that they are valid and allow this. `cotter doctor` shows where the credentials for HOST come from.\n",
		},
		{
			name: "git's setting names a host that does not exist", config: git, env: func(string) []string { return insteadOf("https://nowhere.invalid/git/") },
			want: "nowhere.invalid cannot be reached: there is no such host; git's setting url.https://nowhere.invalid/git/.insteadOf = https://git.example.com/ replaces the address\nCheck the spelling of nowhere.invalid.\n",
		},
		{
			name: "git's setting names no repository", config: git, env: func(host string) []string { return insteadOf("https://" + host + "/none/") },
			want: "there is no repository https://HOST/none/tools.git, or HOST shows it only with credentials; git's setting url.https://HOST/none/.insteadOf = https://git.example.com/ replaces the address\n" +
				"Check the address, and the credentials for HOST, which `cotter doctor` shows.\n",
		},
		{
			name: "git's setting has a token", config: git, env: func(host string) []string { return insteadOf("https://canary-token@" + host + "/none/?token=canary/") },
			want: "there is no repository https://HOST/none/, or HOST shows it only with credentials; git's setting url.https://HOST/none/?token=REDACTED.insteadOf = https://git.example.com/ replaces the address\n" +
				"Check the address, and the credentials for HOST, which `cotter doctor` shows.\n",
		},
		{
			name: "the built-in client of git", config: "module \"m\" {\n  source = \"git::https://HOST/git/tools.git?ref=v1.0.0\"\n}\n", options: modtest.Options{GitUser: "ci", GitPassword: "secret"},
			env:  func(string) []string { return []string{"COTTER_GIT_BACKEND=go"} },
			want: "HOST answered 401 Unauthorized: there are no credentials that it accepts\nAdd HOST to ~/.netrc. Or install git to use its credential helpers.\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, modtest.NewWith(t, modtest.Txtar(messagesWorld), test.options))
			host := string(s.world.Host())
			if test.env != nil {
				s.env = append(s.env, test.env(host)...)
			}
			if test.docker != "" {
				login := base64.StdEncoding.EncodeToString([]byte(test.docker))
				testenv.WriteFile(t, filepath.Join(s.home, ".docker/config.json"), fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, host, login))
			}
			s.write(t, "main.tf", strings.ReplaceAll(test.config, "HOST", host))
			got, _ := withoutExcerpt(s.run("install").out)
			if diff := cmp.Diff(test.want, strings.ReplaceAll(got, host, "HOST")); diff != "" {
				t.Errorf("the message (-want +got):\n%s", diff)
			}
		})
	}
}
