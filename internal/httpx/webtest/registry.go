package webtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// DockerRegistry runs Debian's docker-registry until the test ends, and returns a handler
// that passes requests on to it. A test is skipped if the program is not installed.
func DockerRegistry(t testing.TB) http.Handler {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not installed")
	}
	dir := t.TempDir()
	socket, config := filepath.Join(dir, "sock"), filepath.Join(dir, "config.yml")
	settings := fmt.Sprintf("version: 0.1\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {net: unix, addr: %q, relativeurls: true}\n", filepath.Join(dir, "data"), socket)
	if err := os.WriteFile(config, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "serve", config)
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone by itself
		_ = cmd.Wait()
	})
	awaitLine(t, output, "listening on")
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Host },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}},
	}
}

// awaitLine reads a program's output up to the line that says what is waited for, and
// throws away all that comes after it.
func awaitLine(t testing.TB, output io.Reader, want string) {
	t.Helper()
	var all strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), want) {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return
		}
	}
	t.Fatalf("the program ended without %q:\n%s", want, all.String())
}
