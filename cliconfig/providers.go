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
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// ProviderInstallation says where provider packages come from.
type ProviderInstallation struct {
	// Explicit says that there is a provider_installation block. Then only its methods are used, if any.
	Explicit bool
	Methods  []InstallationMethod
	// ImpliedMirrors are the directories that are used without a block; they need not exist. The registry
	// of a provider that one of them has is never asked. The first is relative to the configuration's
	// directory.
	ImpliedMirrors []string
	// DevOverrides are builds of providers that stock tools start instead of the installed ones. They do
	// not affect what is installed and locked; programs should warn about them.
	DevOverrides []DevOverride
	// PluginCacheDir is the plugin cache of stock tools, for [getproviders.PluginCache]; "" if none is
	// configured. It need not exist.
	PluginCacheDir string
	// PluginCacheMayBreakLock says that stock tools may use the cache even if the lock then has incomplete
	// hashes.
	PluginCacheMayBreakLock bool

	downloadAttempts int
}

// UseDirectories replaces all methods by mirrors in directories, as -plugin-dir of init does.
func (p *ProviderInstallation) UseDirectories(dirs []string) {
	p.Explicit, p.Methods = true, nil
	for _, dir := range dirs {
		p.Methods = append(p.Methods, InstallationMethod{Kind: MethodFilesystemMirror, Path: dir})
	}
}

// InProject reports whether a project can bring providers itself: whether a mirror's relative path exists
// in dir.
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
	Kind string
	// Include and Exclude select the providers; see [getproviders.Method].
	Include, Exclude []getproviders.Pattern
	// DownloadAttempts is how often direct requests an archive at most, one more than the configured
	// retries; 0 if that is not configured.
	DownloadAttempts int
	// Path is the directory of a filesystem_mirror. A relative one belongs to the project, and so does one in it; see
	// [getproviders.FilesystemMirror].
	Path string
	// URL is the https URL of a network_mirror, without its user name and password.
	URL            *url.URL
	user           string
	password       sanitize.Secret
	TrustAllHashes bool
	// Repository is the template of an oci_mirror.
	Repository getproviders.RepositoryTemplate
}

// ProviderSourceOptions are the parameters of [Config.ProviderSource] outside of the configuration.
type ProviderSourceOptions struct {
	// Direct returns the source for the method direct: the registries. It must request an archive
	// downloadAttempts times at most; 0 means that the number is not configured.
	Direct func(downloadAttempts int) getproviders.Source
	// Dir is the base of relative paths, usually the configuration's directory; "" is the working
	// directory.
	Dir string
	// InProject reports whether a mirror's absolute path is in the project too. nil means that none is.
	InProject func(dir string) bool
	// NoProject leaves out mirrors with relative paths, for a source that several projects share.
	NoProject bool
	// HTTPClient provides the transport for mirrors, and its Timeout limits each request for a document.
	// nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
}

// ProviderSource returns the configured source of providers, with the credentials and attempts of the
// configuration. Without a provider_installation block, it reads the implied mirrors to find their
// providers. The error is ctx's, or one of reading them.
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
			URL:             &at,
			Credentials:     c,
			TrustAllHashes:  m.TrustAllHashes,
			TrustedHost:     addrs.DefaultRegistryHost,
			HTTPCredentials: c.ArchiveCredentials(),
			HTTPClient:      opts.HTTPClient,
			UserAgent:       opts.UserAgent,
			Attempts:        c.Attempts,
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

// ArchiveCredentials returns what finds credentials for the archives of providers: [Config.HTTPCredentials] for
// terraform, and nil for tofu, which sends none.
func (c *Config) ArchiveCredentials() getmodules.HTTPCredentials {
	if !c.terraform {
		return nil
	}
	return c.HTTPCredentials
}

// impliedSource returns a source of the implied mirrors, and of the registries for all other providers.
func (c *Config) impliedSource(ctx context.Context, opts ProviderSourceOptions) (getproviders.Source, error) {
	var methods getproviders.Multi
	direct := getproviders.Method{Source: opts.Direct(c.Providers.downloadAttempts)}
	for _, dir := range c.Providers.ImpliedMirrors {
		if opts.NoProject && !filepath.IsAbs(dir) {
			continue
		}
		if info, err := os.Stat(opts.path(dir)); err != nil || !info.IsDir() {
			continue
		}
		mirror := opts.directory(dir)
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

// directory returns the mirror in a directory. A relative path is joined to Dir: the project brings this
// mirror, even if the user has named it or it is a link out of the project.
func (o ProviderSourceOptions) directory(name string) getproviders.FilesystemMirror {
	inProject := !filepath.IsAbs(name) || o.InProject != nil && o.InProject(name)
	return getproviders.FilesystemMirror{Dir: o.path(name), InProject: inProject}
}

// path returns the path of a mirror's directory.
func (o ProviderSourceOptions) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.Dir, name)
}
