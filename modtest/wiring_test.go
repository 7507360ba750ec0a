package modtest_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(""))
	host := string(world.Host())
	if !strings.HasPrefix(host, "127.0.0.1:") {
		t.Errorf("Host = %q, want a port of 127.0.0.1", host)
	}
	for _, test := range []struct{ got, want string }{
		{world.URL(), "https://" + host},
		{world.Source("acme/net/aws//sub"), host + "/acme/net/aws//sub"},
		{world.GitSource("net.git", "//sub?ref=v1.0.0"), "git::https://" + host + "/git/net.git//sub?ref=v1.0.0"},
		{world.ArchiveSource("net.zip", "//sub"), "https://" + host + "/archives/net.zip//sub"},
	} {
		if test.got != test.want {
			t.Errorf("address = %q, want %q", test.got, test.want)
		}
	}
}

func TestHTTPClientReachesTheWorldByItsNames(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(plainFile))
	port := strings.TrimPrefix(string(world.Host()), "127.0.0.1")
	for _, url := range []string{
		"https://localhost" + port,
		"https://example.com",
		"https://registry.example.com",
		"https://registry.example.com:8443",
		"http://registry.example.com",
		world.PlainURL(),
	} {
		if r := get(t, world, url+"/files/a"); r.status != 200 {
			t.Errorf("GET %s = %d, want 200", url, r.status)
		}
	}
	for _, url := range []string{"https://example.org", "https://notexample.com", "https://192.0.2.1", "http://a.b.example.net"} {
		if _, err := tryGet(t, world, url+"/files/a"); err == nil || !strings.Contains(err.Error(), "outside of the world") {
			t.Errorf("GET %s: error = %v, want a refusal", url, err)
		}
	}
}

// SSL_CERT_FILE makes terraform and tofu trust the world. This test uses another Go program
// instead of them: itself, run again as a child.
func TestEnvIsTrustedByGoPrograms(t *testing.T) {
	t.Parallel()
	if url := os.Getenv("MODTEST_CHILD_URL"); url != "" {
		childGet(t, url)
		return
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		t.Skip("Go heeds no SSL_CERT_FILE on " + runtime.GOOS)
	}
	world := modtest.New(t, modtest.Txtar(plainFile))
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestEnvIsTrustedByGoPrograms$")
	cmd.Env = append(os.Environ(), "MODTEST_CHILD_URL="+world.URL()+"/files/a", "HTTPS_PROXY=http://127.0.0.1:1")
	cmd.Env = append(cmd.Env, world.Env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("child: %v\n%s", err, out)
	}
	if len(world.Requests()) != 1 {
		t.Errorf("requests = %v, want one of the child", world.Requests())
	}
}

func TestGitNeedsTheEnv(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar(twoTags))
	url := world.URL() + "/git/net.git"
	git(t, world, "-c", "http.proxy=http://127.0.0.1:1", "ls-remote", url)
	cmd := exec.CommandContext(t.Context(), "git", "-c", "http.proxy=", "ls-remote", url)
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("git trusts the world without Env:\n%s", out)
	}
}

func TestWriteTree(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, fstest.MapFS{
		"config/main.tf":    {Data: []byte("# MODTEST_HOST MODTEST_HOST\n")},
		"config/sub/run.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"other/main.tf":     {},
	})
	dir := world.Dir(t, "config")
	host := string(world.Host())
	if got, err := os.ReadFile(filepath.Join(dir, "main.tf")); string(got) != "# "+host+" "+host+"\n" {
		t.Errorf("main.tf = %q, %v", got, err)
	}
	info, err := os.Stat(filepath.Join(dir, "sub", "run.sh"))
	testenv.Must(t, err)
	if runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
		t.Errorf("mode of run.sh = %v, want it executable", info.Mode())
	}
	all := filepath.Join(t.TempDir(), "new")
	testenv.Must(t, world.WriteTree(all, "."))
	if _, err := os.Stat(filepath.Join(all, "other", "main.tf")); err != nil {
		t.Error(err)
	}
	for _, sub := range []string{"none", "../config"} {
		if err := world.WriteTree(t.TempDir(), sub); err == nil {
			t.Errorf("WriteTree(%q): no error", sub)
		} else if sub == "none" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("WriteTree(%q) = %v, want fs.ErrNotExist", sub, err)
		}
	}
}
