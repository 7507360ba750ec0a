package cliconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/process/singleflight"
)

// Config is the configuration that was found. The zero value is empty. It is safe for concurrent use and
// must not be copied.
//
// It implements [disco.CredentialsSource], and its methods HTTPCredentials and OCICredentials are for the
// fields of [github.com/cotterpin/cotter/getmodules.Fetcher].
type Config struct {
	// Services maps hosts with a host block to service identifiers and services, for the field
	// ForcedServices of disco.Client. A value that is not a string is treated as missing.
	Services map[addrs.Hostname]map[string]any
	// Attempts is how often a request to a registry is sent at most: the configured retries and one; 0 if
	// that is not configured. In installer.Options, it also limits the fetches of packages.
	Attempts int
	// Timeout limits a single request to a registry; 0 if it is not configured.
	Timeout time.Duration
	// Providers says where provider packages come from; see [Config.ProviderSource].
	Providers ProviderInstallation

	// environ and files map hosts to credentials. A host without a token in its entry has no credentials,
	// and the helper is not run for it.
	environ, files map[addrs.Hostname]credentials
	helper         *helper
	helperAnswers  singleflight.Memo[addrs.Hostname, credentials]

	netrcFile file
	netrc     lazy[getmodules.HTTPCredentials]

	oci        ociConfig
	ociAnswers singleflight.Memo[dockerQuestion, ociLogin]

	programs programs
	warn     func(text string)

	terraform bool
	// defaultHost is for provider addresses without a host.
	defaultHost addrs.Hostname
}

// Options control how [Environment.Load] reads the configuration.
type Options struct {
	// Terraform reads the files of terraform instead of those of tofu.
	Terraform bool
	// Warn is called with a sentence about each file that is skipped because it does not exist or the user
	// may not read it. It must be safe for concurrent use, because netrc and Docker files are read when
	// first needed. nil discards the warnings.
	Warn func(text string)
}

// maxFile limits a configuration file in bytes. Large ones have a few kilobytes.
const maxFile = 1 << 20

// Load reads the configuration. A file may be a pipe, which is read until its writer closes it or ctx is
// done. netrc and Docker files are read later, when credentials are first looked up in them.
//
// If TF_CLI_CONFIG_FILE names a file that does not exist, Load warns, as stock tools do. It also warns of a
// file in the home directory that the user may not read, as in containers that run as another user. Any
// other file that cannot be read or parsed is an error.
//
// The error names all faults, one a line, with positions and without secrets, and wraps them as
// [hcl.Diagnostics]. The Config is never nil, and contains everything that could be read.
func (e Environment) Load(ctx context.Context, opts Options) (*Config, error) {
	paths := paths{Environment: e, terraform: opts.Terraform}
	config := &Config{
		Services:  map[addrs.Hostname]map[string]any{},
		environ:   map[addrs.Hostname]credentials{},
		files:     map[addrs.Hostname]credentials{},
		programs:  newPrograms(paths),
		netrcFile: paths.netrcFile(),
		oci:       ociConfig{files: paths.dockerFiles()},
		warn:      opts.Warn,
	}
	if config.warn == nil {
		config.warn = func(string) {}
	}
	diags := config.addVariables(e)
	config.defaultHost = addrs.DefaultRegistryHost
	if config.terraform = opts.Terraform; opts.Terraform {
		config.defaultHost = addrs.TerraformRegistryHost
	}
	config.Providers.ImpliedMirrors = paths.impliedMirrors()
	for _, file := range paths.configFiles() {
		diags = append(diags, config.addFile(ctx, e, file)...)
	}
	for _, diag := range diags {
		if diag.Severity == hcl.DiagWarning {
			config.warn(diag.Summary + ": " + diag.Detail)
		}
	}
	return config, hcldepth.ErrorOf(diags)
}

func (c *Config) addFile(ctx context.Context, e Environment, file file) hcl.Diagnostics {
	src, err := atomicfile.ReadUser(ctx, file.name, maxFile)
	switch {
	case atomicfile.IsAbsent(err) && !file.named:
		return nil
	case atomicfile.IsAbsent(err):
		return hcl.Diagnostics{fileFault(hcl.DiagWarning, "The CLI configuration file does not exist", file.name, err)}
	case errors.Is(err, fs.ErrPermission) && !file.named:
		return hcl.Diagnostics{fileFault(hcl.DiagWarning, "The CLI configuration file cannot be read and is skipped", file.name, err)}
	case err != nil:
		return hcl.Diagnostics{fileFault(hcl.DiagError, "The CLI configuration file cannot be read", file.name, err)}
	}
	d := decoder{config: c, environment: e, name: file.name, hasCacheDir: c.Providers.PluginCacheDir != ""}
	content, err := parse(src)
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		d.fault(syntax.at, "The file cannot be parsed: %s.", syntax.reason)
		return d.diags
	}
	d.file(content)
	return d.diags
}

func fileFault(severity hcl.DiagnosticSeverity, summary, name string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: severity, Summary: summary, Detail: fmt.Sprintf("%q: %s.", name, reason(err)), Extra: err}
}

// reason returns the error without the name of its file.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
