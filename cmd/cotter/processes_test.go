package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// processes is the number of processes that are started at once, and share a cache.
func processes() int {
	if *testenv.Exhaustive {
		return 50
	}
	return 20
}

const processesWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
# registry
-- git/tools.git/v1.0.0/modules/a/main.tf --
# git
-- archives/n.zip/main.tf --
# archive
-- oci/db/1.0.0/main.tf --
# oci
`

const processesConfig = `
module "registry" {
  source  = "HOST/acme/net/aws"
  version = "~> 1.0"
}
module "git" {
  source = "git::https://HOST/git/tools.git//modules/a?ref=v1.0.0"
}
module "archive" {
  source = "https://HOST/archives/n.zip"
}
module "oci" {
  source = "oci://HOST/db?tag=1.0.0"
}
`

// TestProcesses installs projects that share a cache in many processes at once. No package
// may be transferred twice.
func TestProcesses(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(processesWorld))
	front := newFront(t, world)
	cache := t.TempDir()
	var wait sync.WaitGroup
	for range processes() {
		dir := t.TempDir()
		text := strings.ReplaceAll(processesConfig, "HOST", front.host)
		testenv.WriteFile(t, filepath.Join(dir, "main.tf"), text)
		cmd := cotterIn(world, dir, cache)
		cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+front.certificates, "GIT_SSL_CAINFO="+front.certificates)
		wait.Go(func() { front.end(t, cmd) })
	}
	wait.Wait()
	want := map[string]int{"git registry": 1, "git tools": 1, "archive": 1, "oci": 1}
	if diff := cmp.Diff(want, front.transfers()); diff != "" {
		t.Errorf("how often packages were transferred to %d processes (-want +got):\n%s", processes(), diff)
	}
}

// front is a proxy in front of a world's servers that counts the transfers of packages. It
// holds archives back until all processes have started: a process that starts later has to
// ask again, because the archive may have changed by then.
type front struct {
	host         string
	certificates string
	proxy        *httputil.ReverseProxy

	mu      sync.Mutex
	seen    map[string]int
	started int
	all     chan struct{}
}

func newFront(t *testing.T, world *modtest.World) *front {
	t.Helper()
	target, err := url.Parse(world.URL())
	testenv.Must(t, err)
	f := &front{seen: make(map[string]int), all: make(chan struct{})}
	f.proxy = &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: world.HTTPClient().Transport,
	}
	f.proxy.ModifyResponse = func(r *http.Response) error { return f.turn(r, string(world.Host())) }
	server := httptest.NewUnstartedServer(f)
	certificate := certificateFor(t, "127.0.0.1", time.Now().AddDate(0, 0, 1))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	f.host = server.Listener.Addr().String()
	f.certificates = filepath.Join(t.TempDir(), "ca.pem")
	testenv.WriteFile(t, f.certificates, string(asPEM(certificate.Certificate[0])))
	return f
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/versions"):
		f.start()
	case strings.HasPrefix(path, "/git/") && bytes.Contains(body, []byte("command=fetch")):
		f.count("git " + strings.TrimSuffix(strings.Split(path, "/")[2], ".git"))
	case strings.HasPrefix(path, "/archives/"):
		f.count("archive")
		select {
		case <-f.all:
		case <-r.Context().Done():
		}
	case strings.Contains(path, "/blobs/") && r.Method == http.MethodGet:
		f.count("oci")
	}
	f.proxy.ServeHTTP(w, r)
}

// turn changes a registry's answer that points to the servers, so that it points to the
// proxy.
func (f *front) turn(r *http.Response, host string) error {
	if !strings.HasSuffix(r.Request.URL.Path, "/download") {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	body = bytes.ReplaceAll(body, []byte(host), []byte(f.host))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	r.Header.Set("X-Terraform-Get", strings.ReplaceAll(r.Header.Get("X-Terraform-Get"), host, f.host))
	return nil
}

// start counts the processes by their requests for versions, one from each.
func (f *front) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.started++; f.started == processes() {
		close(f.all)
	}
}

func (f *front) count(transfer string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen[transfer]++
}

func (f *front) transfers() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}

// end waits for a process and checks that it succeeded.
func (f *front) end(t *testing.T, cmd *exec.Cmd) {
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", fmt.Sprint(cmd.Args), err, out)
	}
}
