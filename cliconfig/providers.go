package cliconfig

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// ProviderInstallation says where provider packages come from.
type ProviderInstallation struct {
	// Explicit says that there is a provider_installation block. Then only its methods are
	// used, even if it has none.
	Explicit bool
	// Methods are the methods of the block, in order.
	Methods []InstallationMethod
	// ImpliedMirrors are the directories that are used if there is no block. If one of them
	// has a package of a provider, the provider's registry is never asked. The first one is
	// relative to the directory of the configuration. They need not exist.
	ImpliedMirrors []string
	// DevOverrides are builds of providers that stock tools start instead of the installed
	// providers. They do not affect what is installed and locked; programs should warn
	// about them.
	DevOverrides []DevOverride
	// PluginCacheDir is the plugin cache directory of stock tools, for
	// [getproviders.PluginCache]. It need not exist, and is "" if no directory is
	// configured.
	PluginCacheDir string
	// PluginCacheMayBreakLock says that stock tools may use the plugin cache even if the
	// lock then has incomplete hashes.
	PluginCacheMayBreakLock bool

	// downloadAttempts is the setting for direct in the environment; 0 if there is none.
	downloadAttempts int
}

// InProject reports whether a project can bring providers itself: whether a relative path of a
// mirror means a directory that exists in the project's directory.
func (p *ProviderInstallation) InProject(dir string) bool {
	var relative []string
	for _, m := range p.Methods {
		if m.isInProject() {
			relative = append(relative, m.Path)
		}
	}
	if !p.Explicit {
		relative = p.ImpliedMirrors
	}
	return slices.ContainsFunc(relative, func(name string) bool { return !filepath.IsAbs(name) && exists(filepath.Join(dir, name)) })
}

// isInProject reports whether the method is a mirror below the project's directory.
func (m InstallationMethod) isInProject() bool {
	return m.Kind == MethodFilesystemMirror && !filepath.IsAbs(m.Path)
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
	// Include and Exclude select the providers of the method; see [getproviders.Method].
	Include, Exclude []getproviders.Pattern
	// DownloadAttempts is how often direct requests an archive at most: one more than the
	// configured number of retries. It is 0 if that is not configured.
	DownloadAttempts int
	// Path is the directory of a filesystem_mirror. If it is relative, the mirror belongs to the
	// project; see [getproviders.FilesystemMirror].
	Path string
	// URL is the https URL of a network_mirror. It does not contain the user name and the
	// password, which only [Config.ProviderSource] uses.
	URL      *url.URL
	user     string
	password sanitize.Secret
	// TrustAllHashes is the argument of a network_mirror.
	TrustAllHashes bool
	// Repository is the template of an oci_mirror.
	Repository getproviders.RepositoryTemplate
}

// ProviderSourceOptions are the parameters of [Config.ProviderSource] that are not in the
// configuration.
type ProviderSourceOptions struct {
	// Direct returns the source for the method direct: the registries of the providers. The
	// source must request an archive downloadAttempts times at most; 0 means that the
	// number is not configured.
	Direct func(downloadAttempts int) getproviders.Source
	// Dir is the base directory for the relative paths of mirrors, usually the directory of
	// the configuration. "" means the working directory.
	Dir string
	// NoProject leaves out the mirrors with relative paths, for a source that several projects
	// share; see [ProviderInstallation.InProject].
	NoProject bool
	// HTTPClient provides the transport for mirrors. Its Timeout limits each request for a
	// document. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
}

// ProviderSource returns the configured source of providers, with the credentials and the
// attempts of the configuration. Without a provider_installation block, it reads the implied
// mirrors to find the providers that they have. The error is ctx's, or an error of reading
// the mirrors.
func (c *Config) ProviderSource(ctx context.Context, opts ProviderSourceOptions) (getproviders.Source, error) {
	if !c.Providers.Explicit {
		return c.impliedSource(ctx, opts)
	}
	methods := make(getproviders.Multi, 0, len(c.Providers.Methods))
	for _, m := range c.Providers.Methods {
		if opts.NoProject && m.isInProject() {
			continue
		}
		methods = append(methods, getproviders.Method{Source: c.methodSource(m, opts), Include: m.Include, Exclude: m.Exclude})
	}
	return methods, nil
}

func (c *Config) methodSource(m InstallationMethod, opts ProviderSourceOptions) getproviders.Source {
	switch m.Kind {
	case MethodFilesystemMirror:
		return opts.directory(m.Path)
	case MethodNetworkMirror:
		at := *m.URL
		if m.user != "" {
			at.User = url.UserPassword(m.user, m.password.Reveal())
		}
		return &getproviders.NetworkMirror{
			URL:            &at,
			Credentials:    c,
			TrustAllHashes: m.TrustAllHashes,
			TrustedHost:    addrs.DefaultRegistryHost,
			HTTPClient:     opts.HTTPClient,
			UserAgent:      opts.UserAgent,
			Attempts:       c.Attempts,
		}
	case MethodOCIMirror:
		return &getproviders.OCIMirror{
			Repository: m.Repository,
			Fetcher: &getmodules.Fetcher{
				HTTPClient:     opts.HTTPClient,
				UserAgent:      opts.UserAgent,
				Attempts:       c.Attempts,
				OCICredentials: c.OCICredentials,
			},
		}
	}
	return opts.Direct(m.DownloadAttempts)
}

// impliedSource returns a source of the implied mirrors, and of the registries for
// providers that are in none of the mirrors.
func (c *Config) impliedSource(ctx context.Context, opts ProviderSourceOptions) (getproviders.Source, error) {
	var methods getproviders.Multi
	direct := getproviders.Method{Source: opts.Direct(c.Providers.downloadAttempts)}
	for _, dir := range c.Providers.ImpliedMirrors {
		mirror := opts.directory(dir)
		if opts.NoProject && mirror.InProject {
			continue
		}
		if info, err := os.Stat(mirror.Dir); err != nil || !info.IsDir() {
			continue
		}
		found, err := mirror.Providers(ctx)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue // for example the directory of a credentials helper
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

// directory returns the mirror in a directory. A relative path is joined to Dir, so the project
// brings the mirror, even if the user has named it, and even if the path is a link out of the
// project.
func (o ProviderSourceOptions) directory(name string) getproviders.FilesystemMirror {
	if filepath.IsAbs(name) {
		return getproviders.FilesystemMirror{Dir: name}
	}
	return getproviders.FilesystemMirror{Dir: filepath.Join(o.Dir, name), InProject: true}
}
