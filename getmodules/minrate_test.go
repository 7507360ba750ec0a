package getmodules_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// drip is a writer that sends one byte per millisecond until the client disconnects.
type drip struct {
	http.ResponseWriter
	ctx context.Context
}

func (d drip) Write(p []byte) (int, error) {
	for i := range p {
		select {
		case <-d.ctx.Done():
			return i, d.ctx.Err()
		case <-time.After(time.Millisecond):
		}
		if _, err := d.ResponseWriter.Write(p[i : i+1]); err != nil {
			return i, err
		}
		_ = http.NewResponseController(d.ResponseWriter).Flush()
	}
	return len(p), nil
}

// TestMinRate uses servers that are slow but never silent. The fetch fails if there is a
// minimum rate, and succeeds if there is not.
func TestMinRate(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	_, first, _ := gitMainTF(t, s)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		slow := drip{w, r.Context()}
		if strings.HasSuffix(r.URL.Path, ".zip") {
			_, _ = slow.Write(sampleZip())
			return
		}
		s.Config.Handler.ServeHTTP(slow, r)
	}))
	t.Cleanup(server.Close)
	git := getmodules.Request{Package: addrs.ParseModulePackage("git::" + server.URL + "/net.git"), Revision: first}
	tip := getmodules.Request{Package: git.Package}
	for name, tt := range map[string]struct {
		req     getmodules.Request
		backend getmodules.GitBackend
	}{
		"archive":  {req: getmodules.Request{Package: addrs.ParseModulePackage(server.URL + "/net.zip")}},
		"wire":     {req: git},
		"built-in": {req: tip, backend: getmodules.GitBuiltIn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, rate := range []int64{1 << 40, -1} {
				f := newAutoFetcher(t)
				f.GitBackend, f.Attempts, f.Limits.MinRate = tt.backend, 1, rate
				f.StallTimeout = map[bool]time.Duration{true: 30 * time.Millisecond, false: time.Minute}[rate > 0]
				tt.req.Dir = filepath.Join(t.TempDir(), "tree")
				_, err := f.Fetch(t.Context(), tt.req)
				if rate > 0 && (err == nil || !strings.Contains(err.Error(), "the server has sent")) {
					t.Errorf("with a floor of %d bytes a second: %v, want an error about it", rate, err)
				}
				if rate < 0 && err != nil {
					t.Errorf("without a floor: %v", err)
				}
			}
		})
	}
}

// TestMinRateOfGetter uses a getter that writes one byte at a time.
func TestMinRateOfGetter(t *testing.T) {
	t.Parallel()
	slow := func(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
		for text := "x"; ctx.Err() == nil; text += "x" {
			writeFile(t, from.Path, text)
		}
		return getmodules.Downloaded{}, ctx.Err()
	}
	f := &getmodules.Fetcher{StallTimeout: time.Millisecond, Limits: getmodules.Limits{MinRate: 1 << 40}}
	_, _, err := fetchDemo(t, f, getmodules.Request{Package: addrs.ParseModulePackage("demo::https://h.example/n.zip")}, slow)
	if err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("error is %v, want that it is too slow", err)
	}
}

// TestMinRateOfGit checks the arguments with which the minimum rate is passed to the
// installed git.
func TestMinRateOfGit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rate   int64
		window time.Duration
		want   string
	}{
		{0, 0, "http.lowSpeedLimit=4096 -c http.lowSpeedTime=120 "},
		{100, 1500 * time.Millisecond, "http.lowSpeedLimit=100 -c http.lowSpeedTime=2 "},
		{-1, 0, ""},
	} {
		dir := t.TempDir()
		git, log := filepath.Join(dir, "git"), filepath.Join(dir, "log")
		gitScript(t, git, `case "$*" in *version) echo git version 2.40.0;; *ls-remote*) echo "$*" > `+log+`; esac`)
		f := newGitFetcher(t)
		f.Git.Path, f.StallTimeout, f.Limits.MinRate = git, tt.window, tt.rate
		if _, err := f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("git::https://git.example.com/net.git")}); err != nil {
			t.Fatal(err)
		}
		args, err := os.ReadFile(log)
		if err != nil || !strings.Contains(string(args), tt.want) || tt.want == "" && strings.Contains(string(args), "lowSpeed") {
			t.Errorf("with a floor of %d over %v git gets %q, %v, want %q", tt.rate, tt.window, args, err, tt.want)
		}
	}
}
