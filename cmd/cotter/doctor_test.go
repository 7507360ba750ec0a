package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/modtest"
)

// TestDoctorHosts runs doctor against servers with various faults.
func TestDoctorHosts(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	s := newSite(t, modtest.New(t, modtest.Txtar("-- registry/acme/net/aws/1.0.0/main.tf --\n-- git/dns.git/v1.0.0/main.tf --\n-- oci/acme%2Ftags/1.0.0/main.tf --\n")))
	s.write(t, "main.tf", "module \"net\" {\n  source = \"MODTEST_HOST/acme/net/aws\"\n}\n"+
		"module \"dns\" {\n  source = \"git::https://MODTEST_HOST/git/dns.git\"\n}\n"+
		"module \"tags\" {\n  source  = \"oci://MODTEST_HOST/acme/tags\"\n  version = \"~> 1.0\"\n}\n")
	for _, test := range []struct {
		name   string
		fault  modtest.Fault
		env    []string
		want   string
		status int
	}{
		{"no services", modtest.Fault{Status: http.StatusNotFound}, nil, "problem  HOST (git, modules, oci): HOST answered 404 Not Found: it has no /.well-known/terraform.json, so it is no registry", 1},
		{"a failing server", modtest.Fault{Status: http.StatusServiceUnavailable}, nil, "HOST answered 503 Service Unavailable", 1},
		{"credentials that the registry refuses", modtest.Fault{Path: "/v1/modules/", Status: http.StatusUnauthorized}, nil, "problem  HOST (git, modules, oci): HOST answered 401 Unauthorized: no credentials were sent", 1},
		{"credentials that a git server refuses", modtest.Fault{Path: "/git/", Status: http.StatusUnauthorized}, nil, "problem  HOST (git, modules, oci): HOST requires credentials, and git has none that it accepts", 1},
		{"credentials that an OCI registry refuses", modtest.Fault{Path: "/v2/", Status: http.StatusUnauthorized}, nil, "problem  HOST (git, modules, oci): ", 1},
		{"nothing", modtest.Fault{Path: "/none"}, nil, "ok       HOST (git, modules, oci) answers", 0},
		{"an unknown authority", modtest.Fault{Times: 1}, []string{"SSL_CERT_FILE="}, "HOST's certificate is not trusted: it is signed by an unknown authority", 1},
	} {
		s.world.SetFaults(test.fault)
		end := s.run("doctor", test.env...)
		if out := strings.ReplaceAll(end.out, string(s.world.Host()), "HOST"); end.status != test.status || !strings.Contains(out, test.want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s", test.name, end.status, test.status, test.want, out)
		}
	}
}

// TestDoctorReach checks that doctor does not ask a host on this machine that only a package names: an
// installation does not ask it either.
func TestDoctorReach(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	var reached atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(http.NotFound))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			reached.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	host, world := strings.TrimPrefix(server.URL, "http://"), modtest.New(t, fstest.MapFS{})
	const reach = "its host is this machine"
	inPackage := func(app, source string) ending {
		s := newSite(t, world)
		s.write(t, "main.tf", "module \"app\" {\n  source = \""+app+"\"\n}\n")
		s.write(t, modules+"modules.json", `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"app","Source":"`+app+`","Dir":".terraform/modules/app"}]}`)
		s.write(t, modules+"app/main.tf", "module \"net\" {\n  source = \""+source+"\"\n}\n")
		return s.run("doctor")
	}
	for _, test := range []struct{ name, source, want string }{
		{"a registry", host + "/acme/net/aws", reach},
		{"an archive", "http://" + host + "/net.zip", "ok       http://" + host + " (archives) is not asked before a package is fetched"},
		{"an OCI registry", "oci://" + host + "/net", reach},
		{"git over ssh", "git::ssh://git@" + host + "/net.git", reach},
		{"git's own protocol", "git::git://" + host + "/net.git", reach},
	} {
		end := inPackage("https://modules.invalid/app.zip", test.source)
		if n := reached.Load(); n > 0 || !strings.Contains(end.out, test.want) {
			t.Errorf("%s: %d connections, want none and %q:\n%s", test.name, n, test.want, end.out)
		}
	}
	// A package from a server on this machine may name another one there.
	for _, source := range []string{host + "/acme/net/aws", "oci://" + host + "/net", "git::https://" + host + "/net.git"} {
		before := reached.Load()
		if end := inPackage("https://127.0.0.1:1/app.zip", source); reached.Load() == before {
			t.Errorf("%s: no connection:\n%s", source, end.out)
		}
	}
}
