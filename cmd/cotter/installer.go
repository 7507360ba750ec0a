package main

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getmodules/xz"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/limits"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/registryclient"
)

// stallTimeout is how long a server may send nothing; 0 means the defaults. Tests cannot wait for as long.
var stallTimeout time.Duration

// newInstaller returns an Installer that uses the network, with the stock tools' settings and credentials.
func newInstaller(ctx context.Context, cmd *invocation, out *output, req request) (*installer.Installer, error) {
	config, err := cliConfig(ctx, req.Dialect, func(text string) { out.warnf("%s", text) })
	if err != nil {
		return nil, err
	}
	out.warnUnmanaged(req.Unmanaged)
	if len(req.stock.pluginDirs) > 0 {
		config.Providers.UseDirectories(req.stock.pluginDirs)
	}
	git, err := gitBackend(out.Env)
	if err != nil {
		return nil, err
	}
	limits, disk, err := limits.FromEnv(out.Env)
	if err != nil {
		return nil, usageError{err}
	}
	user, err := userSettings(ctx)
	if err != nil {
		return nil, err
	}
	transport := transport(out.Reached)
	client := &http.Client{Transport: transport, Timeout: config.Timeout}
	fetcher := &getmodules.Fetcher{
		Getters:    getters(&http.Client{Transport: transport}, out.Env, user),
		HTTPClient: client, // the settings of git apply to it
		XZ:         xz.NewReader,
		GitBackend: git,
		PlainHTTP:  user.PlainHTTP,
		Limits:     limits,
		Attempts:   httpx.DefaultAttempts, // the setting in config is for registries, as in stock tools

		StallTimeout: stallTimeout,
	}
	o := localOptions(out)
	o.OnEvent = nil // see telling
	o.HTTPClient, o.UserAgent, o.Credentials = client, "cotter/"+version(), config
	o.Services, o.Attempts, o.Fetcher = config.Services, config.Attempts, fetcher
	o.MaxDisk = disk
	o.LocalHosts, o.PluginCacheDir = localHosts(user), config.Providers.PluginCacheDir
	for _, override := range config.Providers.DevOverrides {
		out.warnf("dev_overrides in the CLI configuration make tofu and terraform start %s from %s, whatever is installed and locked", override.Provider.ForDisplay(), override.Dir)
	}
	standard := installer.New(o).Options()
	if registry, ok := standard.Registry.(*registryclient.Client); ok {
		registry.MaxDownload = limits.DownloadBytes
	}
	o.Registry = standard.Registry
	if direct, ok := standard.Providers.(*getproviders.Direct); ok {
		direct.StallTimeout = stallTimeout
		direct.RefuseExpired = req.Dialect != installer.DialectTerraform && enforced(out.Env, "OPENTOFU_ENFORCE_GPG_EXPIRATION")
	}
	o.Providers, err = newConfiguredSource(ctx, config, standard.Providers, req.Dir, severalProjects(cmd), client)
	return installer.New(o), err
}

// telling returns an Installer that prints the warnings that are about no project, which commands that only
// ask origins do not need.
func telling(in *installer.Installer, out *output) *installer.Installer {
	o := in.Options()
	o.OnEvent = out.warning
	return installer.New(o)
}

// localHosts returns the hosts of this machine that packages and servers may name: those of the user's lists,
// and the servers for the user's AWS credentials.
func localHosts(user *policy.UserSettings) []string {
	all := slices.Concat(user.LocalHosts, user.PlainHTTP)
	for _, endpoint := range user.S3Endpoints {
		if u, err := url.Parse(endpoint); err == nil {
			all = append(all, httpx.HostPort(u))
		}
	}
	return all
}

func localOptions(out *output) installer.Options {
	return installer.Options{
		CacheDir: cliconfig.OSEnvironment().CacheDir(),
		StateDir: cliconfig.OSEnvironment().StateDir(),
		StateKey: out.Env("COTTER_STATE_KEY"),
		OnEvent:  out.warning,
	}
}

// localInstaller is for commands that do not use the network.
func localInstaller(out *output) *installer.Installer { return installer.New(localOptions(out)) }

// evidenceInstaller is a localInstaller with the user's sources of providers. They are not asked, but decide
// what earlier evidence counts, and which providers the project brings. It does not repeat the warnings about
// the CLI configuration.
func evidenceInstaller(ctx context.Context, cmd *invocation, out *output, req request) (*installer.Installer, error) {
	config, err := cliConfig(ctx, req.Dialect, func(string) {})
	if err != nil {
		return nil, err
	}
	o := localOptions(out)
	o.Providers, err = newConfiguredSource(ctx, config, installer.New(installer.Options{}).Options().Providers, req.Dir, false, nil)
	return installer.New(o), err
}

// transport keeps as many idle connections to a host as can be in use at once, because handshakes cost two
// round trips. reached, if not nil, is set when a server was reached by its name.
func transport(reached *atomic.Bool) http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	ours := standard.Clone()
	ours.MaxIdleConnsPerHost = 64
	if reached != nil && ours.DialContext != nil {
		ours.DialContext = noteReached(reached, ours.DialContext)
	}
	return ours
}

// cliConfig reads the CLI configuration of the project's tool, or of tofu, which falls back to terraform's
// files.
func cliConfig(ctx context.Context, dialect installer.Dialect, warn func(text string)) (*cliconfig.Config, error) {
	return cliconfig.OSEnvironment().Load(ctx, cliconfig.Options{Terraform: dialect == installer.DialectTerraform, Warn: warn})
}

// getters are for sources that need large dependencies or other programs. The SDKs find most settings
// themselves; the environment variables are those of stock tools.
func getters(client *http.Client, env func(string) string, user *policy.UserSettings) map[string]getmodules.Getter {
	return map[string]getmodules.Getter{
		"s3": &s3.Getter{HTTPClient: client, MetadataURL: env("AWS_METADATA_URL"), Endpoints: user.S3Endpoints},
		"gcs": &gcs.Getter{
			HTTPClient:   client,
			Endpoint:     env("STORAGE_EMULATOR_HOST"),
			Token:        env("GOOGLE_OAUTH_ACCESS_TOKEN"),
			QuotaProject: env("GOOGLE_CLOUD_QUOTA_PROJECT"),
		},
		"hg": hg.Getter{},
	}
}

// gitBackend reads COTTER_GIT_BACKEND: git is the installed one, go the built-in client, and auto, the default,
// git if it is installed.
func gitBackend(env func(string) string) (getmodules.GitBackend, error) {
	const setting = "COTTER_GIT_BACKEND"
	return chosen(setting, env(setting), map[string]getmodules.GitBackend{
		"": getmodules.GitAuto, "auto": getmodules.GitAuto, "git": getmodules.GitInstalled, "go": getmodules.GitBuiltIn,
	})
}

// noteReached sets reached if dial has reached a server by a name.
func noteReached(reached *atomic.Bool, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil && advice.IsLookedUp(address) {
			reached.Store(true)
		}
		return conn, err
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)
