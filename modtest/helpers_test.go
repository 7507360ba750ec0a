package modtest_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

type reply struct {
	status int
	header http.Header
	body   string
}

// get requests a URL, which is absolute or a path of the world. headers are names and values in
// turn.
func get(t *testing.T, world *modtest.World, url string, headers ...string) reply {
	t.Helper()
	r, err := tryGet(t, world, url, headers...)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return r
}

func tryGet(t *testing.T, world *modtest.World, url string, headers ...string) (reply, error) {
	t.Helper()
	if strings.HasPrefix(url, "/") {
		url = world.URL() + url
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	testenv.Must(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := world.HTTPClient()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, err
}

// git runs git as a user's process would, in a new directory.
func git(t *testing.T, world *modtest.World, args ...string) string {
	t.Helper()
	out, err := tryGit(t, world, t.TempDir(), args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(t *testing.T, world *modtest.World, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), world.Env()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func commit(t *testing.T, world *modtest.World, repo, tag string) string {
	t.Helper()
	id, err := world.Commit(repo, tag)
	testenv.Must(t, err)
	return id
}

// childGet requests a URL as any Go program would, trusting the system's certificates.
func childGet(t *testing.T, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	testenv.Must(t, err)
	resp, err := http.DefaultClient.Do(req)
	testenv.Must(t, err)
	resp.Body.Close()
}
