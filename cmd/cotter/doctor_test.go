package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// TestDoctorPlainHTTP checks that doctor asks an OCI registry on this machine over http, if it
// speaks that, and with a request that every server knows.
func TestDoctorPlainHTTP(t *testing.T) {
	t.Parallel()
	needGit(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusNotImplemented)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	dir := modtest.New(t, modtest.Txtar("-- config/main.tf --\nmodule \"net\" {\n  source = \"oci://"+host+"/net\"\n}\n")).Dir(t, "config")
	cmd := exec.Command(cotterBinary, "doctor", dir)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "CI=", "TF_CLI_CONFIG_FILE=", "COTTER_STATE_DIR="+t.TempDir())
	out, _ := cmd.CombinedOutput()
	if want := "ok       http://" + host + " (oci) answers in"; !strings.Contains(string(out), want) {
		t.Errorf("want %q:\n%s", want, out)
	}
}

// TestDoctorHosts runs doctor against servers with various faults.
func TestDoctorHosts(t *testing.T) {
	t.Parallel()
	needGit(t)
	world := modtest.New(t, modtest.Txtar(`
-- registry/acme/net/aws/1.0.0/main.tf --
-- config/main.tf --
module "net" {
  source = "MODTEST_HOST/acme/net/aws"
}
`))
	dir := world.Dir(t, "config")
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
		world.SetFaults(test.fault)
		cmd := exec.Command(cotterBinary, "doctor", dir)
		cmd.Env = append(append(os.Environ(), world.Env()...), "HOME="+t.TempDir(), "CI=", "TF_CLI_CONFIG_FILE=", "COTTER_STATE_DIR="+t.TempDir())
		cmd.Env = append(cmd.Env, test.env...)
		out, _ := cmd.CombinedOutput()
		want := strings.ReplaceAll(test.want, "HOST", string(world.Host()))
		if status := cmd.ProcessState.ExitCode(); status != test.status || !strings.Contains(string(out), want) {
			t.Errorf("%s: status %d, want %d and %q:\n%s", test.name, status, test.status, want, out)
		}
	}
}

// TestDoctorReach checks that doctor does not ask a host on this machine that only a package names: an
// installation does not ask it either.
func TestDoctorReach(t *testing.T) {
	t.Parallel()
	needGit(t)
	var reached atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(http.NotFound))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			reached.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	for _, test := range []struct{ name, source, want string }{
		{"a registry", host + "/acme/net/aws", host + " (modules) was not asked"},
		{"an archive", "http://" + host + "/net.zip", "http://" + host + " (archives) was not asked"},
		{"an OCI registry", "oci://" + host + "/net", host + " (oci) was not asked"},
		{"git over ssh", "git::ssh://git@" + host + "/net.git", "ssh://" + host + " (git) was not asked"},
		{"git's own protocol", "git::git://" + host + "/net.git", "git://" + host + " (git) was not asked"},
	} {
		dir := modtest.New(t, modtest.Txtar(strings.ReplaceAll(`
-- config/main.tf --
module "app" {
  source = "https://modules.invalid/app.zip"
}
-- config/.terraform/modules/modules.json --
{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"app","Source":"https://modules.invalid/app.zip","Dir":".terraform/modules/app"}]}
-- config/.terraform/modules/app/main.tf --
module "net" {
  source = "SOURCE"
}
`, "SOURCE", test.source))).Dir(t, "config")
		cmd := exec.Command(cotterBinary, "doctor", dir)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "CI=", "TF_CLI_CONFIG_FILE=", "COTTER_STATE_DIR="+t.TempDir())
		out, _ := cmd.CombinedOutput()
		if n := reached.Load(); n > 0 || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: %d connections, want none and %q:\n%s", test.name, n, test.want, out)
		}
	}
}
