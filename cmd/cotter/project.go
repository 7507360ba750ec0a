package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/internal/procgroup"
)

// request returns the request for the project in --chdir, from the flags, the environment
// and the project's settings.
func request(cmd *cli.Invocation, env func(string) string) (cotter.Request, error) {
	req, err := flagRequest(cmd, env)
	if err != nil {
		return req, err
	}
	return applySettings(cmd, req)
}

// flagRequest is request without the project's settings.
func flagRequest(cmd *cli.Invocation, env func(string) string) (cotter.Request, error) {
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
		DryRun:   cmd.Bool("dry-run"),
		LockOnly: cmd.Bool("lock-only"),
	}
	return req, setInputs(cmd, env, &req)
}

// tools returns the stock tools that PATH contains.
func tools(env func(string) string) []cotter.Dialect {
	var found []cotter.Dialect
	for _, tool := range []cotter.Dialect{cotter.DialectOpenTofu, cotter.DialectTerraform} {
		if procgroup.Find([]string{"PATH=" + env("PATH")}, tool.String()) != "" {
			found = append(found, tool)
		}
	}
	return found
}

// installer returns an Installer for commands that use the network, with the settings and
// credentials in the stock tools' CLI configuration. If COTTER_ALWAYS_GIT is set, the
// installed git sends all requests to git servers.
func installer(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) (*cotter.Installer, error) {
	config, err := cliConfig(ctx, out, req.Dialect)
	if err != nil {
		return nil, err
	}
	git, err := gitBackend(cmd, out.env)
	if err != nil {
		return nil, err
	}
	limits, err := limits(out.env)
	if err != nil {
		return nil, err
	}
	transport := transport()
	client := &http.Client{Transport: transport, Timeout: config.Timeout}
	fetcher := &getmodules.Fetcher{
		Getters:    getters(&http.Client{Transport: transport}, out.env),
		XZ:         xz.NewReader,
		AlwaysGit:  out.env("COTTER_ALWAYS_GIT") != "",
		GitBackend: git,
		Limits:     limits,
	}
	in := cotter.New(cotter.Options{
		HTTPClient:  client,
		UserAgent:   "cotter/" + version(),
		Credentials: config,
		Services:    config.Services,
		Retries:     config.Retries,
		Fetcher:     fetcher,
		CacheDir:    cacheDir(cmd),
		StateDir:    cliconfig.OSEnvironment().StateDir(),
		StateKey:    out.env("COTTER_STATE_KEY"),
	})
	for _, o := range config.Providers.DevOverrides {
		out.warnf("dev_overrides in the CLI configuration make tofu and terraform start %s from %s, whatever is installed and locked", o.Provider.ForDisplay(), o.Dir)
	}
	in.PluginCacheDir = config.Providers.PluginCacheDir
	in.Providers, err = providerSource(ctx, config, in.Providers, req.Dir, client)
	return in, err
}

// limits returns the limits for fetches. COTTER_MIN_RATE is the minimum rate of a transfer in
// bytes per second. Slow networks may need a lower rate; -1 disables the check.
func limits(env func(string) string) (getmodules.Limits, error) {
	text := env("COTTER_MIN_RATE")
	if text == "" {
		return getmodules.Limits{}, nil
	}
	rate, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return getmodules.Limits{}, usageError{fmt.Errorf("COTTER_MIN_RATE takes a number of bytes per second, got %q", text)}
	}
	return getmodules.Limits{MinRate: rate}, nil
}

// localInstaller returns an Installer for commands that read installed files and do not use
// the network.
func localInstaller(cmd *cli.Invocation, out *output) *cotter.Installer {
	return &cotter.Installer{
		CacheDir: cacheDir(cmd),
		StateDir: cliconfig.OSEnvironment().StateDir(),
		StateKey: out.env("COTTER_STATE_KEY"),
		OnEvent:  out.warning,
	}
}

// transport returns a copy of the standard transport that keeps more idle connections to a
// host: as many as can be in use at once. This avoids handshakes, which cost two round trips.
func transport() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	ours := standard.Clone()
	ours.MaxIdleConnsPerHost = 32
	return ours
}

// cacheDir returns the cache directory: the value of --cache-dir, or otherwise the user's
// default. It returns "" if there is no home directory.
func cacheDir(cmd *cli.Invocation) string {
	return cmp.Or(cmd.String("cache-dir"), cliconfig.OSEnvironment().CacheDir())
}
