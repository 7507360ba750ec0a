package hg_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/internal/testenv"
)

// requireHg skips the test if Mercurial is not installed.
func requireHg(t *testing.T) {
	t.Helper()
	testenv.Program(t, "hg")
}

// run runs hg without any configuration and returns what it printed.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	server, err := commandServer()
	testenv.Must(t, err)
	out, err := server.run(append([]string{"--cwd", dir}, args...))
	if err != nil {
		t.Fatalf("hg %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// fixtureEnv returns the environment for an hg that makes or serves repositories.
func fixtureEnv() []string {
	return append(os.Environ(), "HGRCPATH=", "HGPLAIN=1", "HGUSER=somebody", "HGENCODING=UTF-8")
}

func newRepository(t *testing.T, files map[string]string) (dir, changeset string) {
	t.Helper()
	requireHg(t)
	dir = t.TempDir()
	run(t, dir, "init")
	return dir, commit(t, dir, files)
}

// commit adds a changeset with these files. The text "link:x" makes a link to x.
func commit(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		testenv.Must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		var err error
		if target, isLink := strings.CutPrefix(text, "link:"); isLink {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		testenv.Must(t, err)
	}
	out := run(t, dir, "commit", "--addremove", "--debug", "--message", "more")
	_, changeset, _ := strings.Cut(out[strings.LastIndex(out, "committed changeset "):], ":")
	return changeset
}

// serve serves a repository over http and returns its URL without the scheme.
func serve(t *testing.T, dir string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "hg", "serve", "--port=0", "--address=127.0.0.1", "--print-url")
	cmd.Dir, cmd.Env = dir, fixtureEnv()
	out, err := cmd.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed, so it returns an error
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, host, found := strings.Cut(lines.Text(), "http://"); found {
			host, _, _ = strings.Cut(host, "/")
			return host
		}
	}
	t.Fatalf("hg serve printed no URL: %v", lines.Err())
	return ""
}

func fetch(t *testing.T, f *getmodules.Fetcher, address, revision string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	return fetchContext(t.Context(), t, f, address, revision)
}

func fetchContext(ctx context.Context, t *testing.T, f *getmodules.Fetcher, address, revision string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	if f.Getters == nil {
		f.Getters = map[string]getmodules.Getter{"hg": hg.Getter{}}
	}
	outside := filepath.Join(t.TempDir(), "100%h#x") // hg must not interpret special characters in the path
	testenv.Must(t, os.Mkdir(outside, 0o700))
	return testenv.Fetch(t, outside, func(dir string) (*getmodules.Package, error) {
		return f.Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage(address), Revision: revision, Dir: dir})
	})
}

func fileURL(dir string) string { return "hg::file://" + filepath.ToSlash(dir) }
