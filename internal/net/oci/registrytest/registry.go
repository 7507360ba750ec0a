// Package registrytest runs a real OCI registry for tests. It is apart from internal/testenv, whose other users need no
// package net/http, which takes a second to link.
package registrytest

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type TB interface {
	Helper()
	TempDir() string
	Skip(args ...any)
	Fatal(args ...any)
	Cleanup(func())
}

// Registry is an OCI registry that is independent of Cotter: the program docker-registry, under
// which Debian and others package Distribution. It listens on a socket, behind a TLS server that
// counts requests and bytes.
type Registry struct {
	program, dir string
	server       *httptest.Server
	requests     atomic.Int64
	bytes        atomic.Int64

	mu  sync.Mutex
	cmd *exec.Cmd
	// cpu is the processor time of the programs that have been killed.
	cpu time.Duration
	// at is called by the request with this number if it is not nil.
	at     func()
	number int64
}

// Start starts a registry, or skips the test if the program is not installed. dir must have a
// short name, because the socket is in it; "" stands for a temporary directory.
func Start(t TB, dir string) *Registry {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not installed")
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "registry-"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
	}
	r := &Registry{program: program, dir: dir}
	if err := r.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

func (r *Registry) start() error {
	config := fmt.Sprintf("version: 0.1\nlog: {accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {net: unix, addr: %q, relativeurls: true}\n",
		filepath.Join(r.dir, "data"), r.socket())
	if err := os.WriteFile(r.config(), []byte(config), 0o600); err != nil {
		return err
	}
	if err := r.Run(); err != nil {
		return err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.socket())
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(out *httputil.ProxyRequest) { out.Out.URL.Scheme, out.Out.URL.Host = "http", out.In.Host },
		Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 64},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway) // as a reverse proxy does if the registry is down
		},
	}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.count()
		proxy.ServeHTTP(&counter{w, &r.bytes}, req)
	}))
	r.server.Config.ErrorLog = log.New(io.Discard, "", 0) // ignore errors of clients that disconnect
	r.server.EnableHTTP2 = true                           // as reverse proxies of registries do
	r.server.StartTLS()
	return nil
}

func (r *Registry) config() string { return filepath.Join(r.dir, "config.yml") }
func (r *Registry) socket() string { return filepath.Join(r.dir, "sock") }

// Run starts the program again after Kill, and returns when the registry is listening.
func (r *Registry) Run() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd != nil {
		return nil
	}
	if err := os.Remove(r.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	cmd := exec.Command(r.program, "serve", r.config())
	output, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var all strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), "listening on") {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			r.cmd = cmd
			return nil
		}
	}
	return fmt.Errorf("docker-registry ended (%w): %s", cmd.Wait(), all.String())
}

// Kill kills the program. Until Run is called, clients get the status 502.
func (r *Registry) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cmd == nil {
		return
	}
	_ = r.cmd.Process.Kill() // it may have ended already
	_ = r.cmd.Wait()
	r.cpu += r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()
	r.cmd = nil
}

// CPU returns the processor time of the programs that have been killed.
func (r *Registry) CPU() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cpu
}

// After makes the nth request from now call do, once. do must not wait for the registry.
func (r *Registry) After(n int64, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at, r.number = do, r.requests.Load()+n
}

func (r *Registry) count() {
	number := r.requests.Add(1)
	r.mu.Lock()
	var do func()
	if r.at != nil && number >= r.number {
		do, r.at = r.at, nil
	}
	r.mu.Unlock()
	if do != nil {
		do()
	}
}

func (r *Registry) close() {
	r.server.Close()
	r.Kill()
}

func (r *Registry) Host() string { return r.server.Listener.Addr().String() }

func (r *Registry) Client() *http.Client { return r.server.Client() }

func (r *Registry) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
}

// Traffic returns the numbers of requests and of bytes that were sent to clients.
func (r *Registry) Traffic() (requests, bytes int64) { return r.requests.Load(), r.bytes.Load() }

// Damage changes the content of a blob in the registry's storage without changing its size.
func (r *Registry) Damage(digest string) error {
	sum, ok := strings.CutPrefix(digest, "sha256:")
	if !ok || len(sum) < 2 {
		return fmt.Errorf("%q is not a digest", digest)
	}
	name := filepath.Join(r.dir, "data", "docker", "registry", "v2", "blobs", "sha256", sum[:2], sum, "data")
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	content[len(content)/2] ^= 1
	return os.WriteFile(name, content, 0o600)
}

type counter struct {
	http.ResponseWriter
	bytes *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.bytes.Add(int64(n))
	return n, err
}

// Unwrap is used by http.ResponseController.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }
