package cliconfig

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
)

// ProviderInstallation says where the packages of providers come from.
type ProviderInstallation struct {
	// Explicit says that there is a provider_installation block. Only its methods
	// count then, even if there are none.
	Explicit bool
	// Methods are those of the block, in their order.
	Methods []InstallationMethod
	// ImpliedMirrors are the directories that count if there is no block: a provider
	// of which one of them has a package is never asked of its registry. The first
	// one is relative to the directory of the configuration. They need not exist.
	ImpliedMirrors []string
	// DevOverrides are builds of providers that stock tools start in the place of what
	// is installed. They have no influence on what is installed and locked: programs
	// should warn of them.
	DevOverrides []DevOverride
	// PluginCacheDir is the plugin cache directory of stock tools, which need not
	// exist, for [getproviders.PluginCache]; "" if no directory is configured.
	PluginCacheDir string
	// PluginCacheMayBreakLock says that stock tools may use the plugin cache although
	// the lock then has incomplete hashes.
	PluginCacheMayBreakLock bool

	// downloadRetries is what the environment says for direct; 0 if it says nothing.
	downloadRetries int
}

// DevOverride is a directory with a build of a provider.
type DevOverride struct {
	Provider addrs.Provider
	Dir      string
}

// The kinds of an [InstallationMethod].
const (
	MethodDirect           = "direct"
	MethodFilesystemMirror = "filesystem_mirror"
	MethodNetworkMirror    = "network_mirror"
	MethodOCIMirror        = "oci_mirror"
)

// InstallationMethod is a method of a provider_installation block.
type InstallationMethod struct {
	// Kind is the name of the method.
	Kind string
	// Include and Exclude say which providers it is for; see [getproviders.Method].
	Include, Exclude []getproviders.Pattern
	// DownloadRetries is how often direct repeats a failed download of an archive; 0 if
	// that is not configured.
	DownloadRetries int
	// Path is the directory of a filesystem_mirror. It can be relative.
	Path string
	// URL is that of a network_mirror, by https. It has no user name and no password,
	// which only [Config.ProviderSource] uses.
	URL      *url.URL
	user     string
	password secret
	// TrustAllHashes is the argument of a network_mirror.
	TrustAllHashes bool
	// Repository is the template of an oci_mirror.
	Repository getproviders.RepositoryTemplate
}

// ProviderSourceOptions are what [Config.ProviderSource] needs besides the
// configuration.
type ProviderSourceOptions struct {
	// Direct returns the source for method direct: the registries of the providers. A
	// failed download of an archive is to be repeated as often as it says; 0 means that
	// nothing is configured.
	Direct func(downloadRetries int) getproviders.Source
	// Dir is the directory that relative paths of mirrors are relative to, as a rule
	// that of the configuration; "" means the working directory.
	Dir string
	// HTTPClient gives the transport for mirrors; its Timeout limits each request for
	// a document. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
}

// ProviderSource returns the source of providers that is configured, with the
// credentials and the retries of the configuration. Without a provider_installation
// block it reads the implied mirrors, to find which providers they have. The error is
// ctx's, or that of reading them.
func (c *Config) ProviderSource(ctx context.Context, opts ProviderSourceOptions) (getproviders.Source, error) {
	if !c.Providers.Explicit {
		return c.impliedSource(ctx, opts)
	}
	methods := make(getproviders.Multi, 0, len(c.Providers.Methods))
	for _, m := range c.Providers.Methods {
		methods = append(methods, getproviders.Method{Source: c.methodSource(m, opts), Include: m.Include, Exclude: m.Exclude})
	}
	return methods, nil
}

func (c *Config) methodSource(m InstallationMethod, opts ProviderSourceOptions) getproviders.Source {
	switch m.Kind {
	case MethodFilesystemMirror:
		return getproviders.FilesystemMirror{Dir: opts.path(m.Path)}
	case MethodNetworkMirror:
		at := *m.URL
		if m.user != "" {
			at.User = url.UserPassword(m.user, m.password.reveal())
		}
		return &getproviders.NetworkMirror{
			URL:            &at,
			Credentials:    c,
			TrustAllHashes: m.TrustAllHashes,
			TrustedHost:    addrs.DefaultRegistryHost,
			HTTPClient:     opts.HTTPClient,
			UserAgent:      opts.UserAgent,
			Retries:        c.Retries,
		}
	case MethodOCIMirror:
		return &getproviders.OCIMirror{
			Repository: m.Repository,
			Fetcher: &getmodules.Fetcher{
				HTTPClient:     opts.HTTPClient,
				UserAgent:      opts.UserAgent,
				Retries:        c.Retries,
				OCICredentials: c.OCICredentials,
			},
		}
	}
	return opts.Direct(m.DownloadRetries)
}

// impliedSource returns the implied mirrors, and the registries for the providers that
// none of them has.
func (c *Config) impliedSource(ctx context.Context, opts ProviderSourceOptions) (getproviders.Source, error) {
	var methods getproviders.Multi
	direct := getproviders.Method{Source: opts.Direct(c.Providers.downloadRetries)}
	for _, dir := range c.Providers.ImpliedMirrors {
		mirror := getproviders.FilesystemMirror{Dir: opts.path(dir)}
		if info, err := os.Stat(mirror.Dir); err != nil || !info.IsDir() {
			continue
		}
		found, err := mirror.Providers(ctx)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue // such as the directory of a credentials helper
		}
		method := getproviders.Method{Source: mirror}
		for _, provider := range found {
			pattern := getproviders.ExactPattern(provider)
			method.Include = append(method.Include, pattern)
			direct.Exclude = append(direct.Exclude, pattern)
		}
		methods = append(methods, method)
	}
	return append(methods, direct), nil
}

// path returns a path that is relative to Dir.
func (o ProviderSourceOptions) path(name string) string {
	if o.Dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}
