package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// TestDoctorPlainHTTP checks that doctor asks an OCI registry on this machine over http, if it
// speaks that, and with a request that every server knows.
func TestDoctorPlainHTTP(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	s := newSite(t, modtest.New(t, fstest.MapFS{}))
	s.write(t, "main.tf", "module \"net\" {\n  source = \"oci://"+host+"/net\"\n}\n")
	if want, end := "ok       http://"+host+" (oci) answers in", s.run("doctor"); !strings.Contains(end.out, want) {
		t.Errorf("want %q:\n%s", want, end.out)
	}
}

// TestDoctorHosts runs doctor against servers with various faults.
func TestDoctorHosts(t *testing.T) {
	t.Parallel()
	needCommands(t, "git")
	s := newSite(t, modtest.New(t, modtest.Txtar("-- registry/acme/net/aws/1.0.0/main.tf --\n")))
	s.write(t, "main.tf", "module \"net\" {\n  source = \"MODTEST_HOST/acme/net/aws\"\n}\n")
	now := time.Now()
	date := func(at time.Time) http.Header { return http.Header{"Date": {at.UTC().Format(http.TimeFormat)}} }
	for _, test := range []struct {
		name   string
		fault  modtest.Fault
		env    []string
		want   string
		status int
	}{
		{"no discovery document", modtest.Fault{Status: http.StatusNotFound}, nil, "problem  HOST (modules) answers with status 404 and has no discovery document", 1},
		{"a failing server", modtest.Fault{Status: http.StatusServiceUnavailable}, nil, "problem  HOST (modules) answers with status 503", 1},
		{"a clock that is slow", modtest.Fault{Header: date(now.Add(2 * time.Hour))}, nil, "note     it is 2h0m0s behind all hosts", 0},
		{"a clock that is fast", modtest.Fault{Header: date(now.Add(-48 * time.Hour))}, nil, "note     it is 48h0m0s ahead of all hosts", 0},
		{"an unknown authority", modtest.Fault{Times: 1}, []string{"SSL_CERT_FILE="}, "problem  HOST (modules): its certificate is not trusted", 1},
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
	for _, test := range []struct{ name, source, want string }{
		{"a registry", host + "/acme/net/aws", host + " (modules) was not asked"},
		{"an archive", "http://" + host + "/net.zip", "http://" + host + " (archives) was not asked"},
		{"an OCI registry", "oci://" + host + "/net", host + " (oci) was not asked"},
		{"git over ssh", "git::ssh://git@" + host + "/net.git", "ssh://" + host + " (git) was not asked"},
		{"git's own protocol", "git::git://" + host + "/net.git", "git://" + host + " (git) was not asked"},
	} {
		s := newSite(t, world)
		s.write(t, "main.tf", "module \"app\" {\n  source = \"https://modules.invalid/app.zip\"\n}\n")
		s.write(t, modules+"modules.json", `{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"app","Source":"https://modules.invalid/app.zip","Dir":".terraform/modules/app"}]}`)
		s.write(t, modules+"app/main.tf", "module \"net\" {\n  source = \""+test.source+"\"\n}\n")
		end := s.run("doctor")
		if n := reached.Load(); n > 0 || !strings.Contains(end.out, test.want) {
			t.Errorf("%s: %d connections, want none and %q:\n%s", test.name, n, test.want, end.out)
		}
	}
}
