package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/internal/child"
	"github.com/cotterpin/cotter/registryclient"
)

// request is what the flags and the environment say about the project.
func request(cmd *cli.Command, env func(string) string) (cotter.Request, error) {
	dialect, err := cotter.ParseDialect(cmd.String("for"))
	if err != nil {
		return cotter.Request{}, usageError{err}
	}
	req := cotter.Request{
		Dir:      cmd.String("chdir"),
		DataDir:  env("TF_DATA_DIR"),
		LockFile: cmd.String("lock-file"),
		Dialect:  dialect,
		Tools:    tools(env),
	}
	return req, setInputs(cmd, env, &req)
}

// tools are the stock tools in PATH.
func tools(env func(string) string) []cotter.Dialect {
	var found []cotter.Dialect
	for _, tool := range []cotter.Dialect{cotter.DialectOpenTofu, cotter.DialectTerraform} {
		if child.Find([]string{"PATH=" + env("PATH")}, tool.String()) != "" {
			found = append(found, tool)
		}
	}
	return found
}

// installer is an Installer as the command uses it: with what the CLI
// configuration of stock tools says about registries. COTTER_ALWAYS_GIT is for
// who wants to see, or to have, git's own requests.
func installer(ctx context.Context, cmd *cli.Command, out *output, req cotter.Request) (*cotter.Installer, error) {
	config, err := cliConfig(ctx, out, req.Dialect)
	if err != nil {
		return nil, err
	}
	agent := "cotter/" + version()
	transport := transport()
	unbounded := &http.Client{Transport: transport}
	// The registry clients have bounds of their own, unless the user has set one.
	bounded := &http.Client{Transport: transport, Timeout: config.Timeout}
	services := &disco.Client{
		HTTPClient:     bounded,
		Credentials:    credentials{config},
		ForcedServices: config.Services,
		UserAgent:      agent,
		Retries:        config.Retries,
	}
	git, err := gitBackend(cmd, out.env)
	if err != nil {
		return nil, err
	}
	limits, err := limits(out.env)
	if err != nil {
		return nil, err
	}
	dir := cacheDir(cmd, out.env)
	return &cotter.Installer{
		Registry: &registryclient.Client{Services: services, HTTPClient: bounded, UserAgent: agent, Retries: config.Retries},
		Fetcher: &getmodules.Fetcher{
			HTTPClient:      unbounded,
			CacheDir:        dir,
			HTTPCredentials: netrcCredentials(ctx, out),
			OCICredentials:  credentials{config}.forRepository,
			Getters:         getters(unbounded, out.env),
			XZ:              xz.NewReader,
			AlwaysGit:       out.env("COTTER_ALWAYS_GIT") != "",
			GitBackend:      git,
			Limits:          limits,
		},
		CacheDir: dir,
		StateDir: stateDir(out.env),
		StateKey: out.env("COTTER_STATE_KEY"),
	}, nil
}

// limits are those of fetches. COTTER_MIN_RATE is for links that are slower than
// the least rate of a transfer, in bytes per second; -1 turns that limit off.
func limits(env func(string) string) (getmodules.Limits, error) {
	text := env("COTTER_MIN_RATE")
	if text == "" {
		return getmodules.Limits{}, nil
	}
	rate, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return getmodules.Limits{}, usageError{fmt.Errorf("COTTER_MIN_RATE takes a number of bytes per second, and got %q", text)}
	}
	return getmodules.Limits{MinRate: rate}, nil
}

// localInstaller is an Installer for commands that read what is installed and
// ask no server.
func localInstaller(cmd *cli.Command, out *output) *cotter.Installer {
	return &cotter.Installer{
		CacheDir: cacheDir(cmd, out.env),
		StateDir: stateDir(out.env),
		StateKey: out.env("COTTER_STATE_KEY"),
		OnEvent:  out.warning,
	}
}

// transport is the standard one, except that it keeps as many connections to a
// host as may be in use at once: a handshake costs two round trips.
func transport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	ours := standard.Clone()
	ours.MaxIdleConnsPerHost = 32
	return ours
}

// cacheDir is the user's cache: the flag, COTTER_CACHE_DIR, or "cotter" in the
// system's place for caches. Without a home there is none.
func cacheDir(cmd *cli.Command, env func(string) string) string {
	if dir := cmd.String("cache-dir"); dir != "" {
		return dir
	}
	if dir := env("COTTER_CACHE_DIR"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "cotter")
}
