// Package cliconfig reads the settings and credentials that users of tofu and terraform
// already have: the CLI configuration, netrc, and the configuration of Docker and Podman.
// https://opentofu.org/docs/cli/config/config-file/ describes the CLI configuration.
//
//	env := cliconfig.OSEnvironment()
//	config, err := env.Load(ctx, cliconfig.Options{})
//	services := &disco.Client{
//		Credentials:    config,
//		ForcedServices: config.Services,
//		Attempts:       config.Attempts,
//	}
//	fetcher := &getmodules.Fetcher{
//		CacheDir:        env.CacheDir(),
//		HTTPCredentials: config.HTTPCredentials,
//		OCICredentials:  config.OCICredentials,
//	}
//
// The caller provides the environment:
// [OSEnvironment] returns the environment of the process, and tests make their own.
// [Environment.CacheDir] and [Environment.StateDir] return the directories of the cotter
// command, so that other programs can share them.
//
// # CLI configuration
//
// The main file is TF_CLI_CONFIG_FILE, or else TERRAFORM_CONFIG. If neither is set, the
// main file is the first of ~/.tofurc, ~/.terraformrc and $XDG_CONFIG_HOME/opentofu/tofurc
// that exists (on Windows tofu.rc and terraform.rc in %APPDATA%). In this case all files
// *.tfrc and *.tfrc.json of the configuration directory are read too, sorted by name. That
// directory is ~/.terraform.d (on Windows %APPDATA%\terraform.d), or else
// $XDG_CONFIG_HOME/opentofu. With [Options].Terraform only terraform's names are used.
//
// These settings are used, and all others are skipped:
//
//	credentials "registry.example.com" {
//	  token = "..."
//	}
//
//	credentials_helper "vault" {
//	  args = ["--profile", "ci"]
//	}
//
//	host "registry.example.com" {
//	  services = {
//	    "modules.v1" = "https://modules.example.com/v1/"
//	  }
//	}
//
//	registry_protocols {
//	  retry_count             = 2
//	  request_timeout_seconds = 20
//	}
//
//	oci_credentials "registry.example.com/team" {
//	  username = "..."
//	  password = "..."
//	}
//
//	oci_default_credentials {
//	  docker_credentials_helper = "pass"
//	}
//
//	provider_installation {
//	  network_mirror {
//	    url     = "https://mirror.example.com/providers/"
//	    include = ["example.com/*/*"]
//	  }
//	  direct {
//	    exclude = ["example.com/*/*"]
//	  }
//	}
//
//	plugin_cache_dir = "$HOME/.terraform.d/plugin-cache"
//
// If several files have the same setting, the last file takes precedence. For
// registry_protocols and plugin_cache_dir, it is the first file. Variables take precedence
// over files: TF_TOKEN_registry_example_com (two underscores stand for a dash, one for a
// dot), TF_REGISTRY_DISCOVERY_RETRY and TF_REGISTRY_CLIENT_TIMEOUT. The credentials helper
// is asked last. It is the newest terraform-credentials-NAME in the plugin directories of
// stock tools.
//
// The syntax is HCL version 1 or JSON, depending on the first character of a file. The
// parser is the one that stock tools use.
//
// # Providers
//
// The files can have one provider_installation block, which says where provider packages
// come from. [Config.ProviderSource] makes a source of it, whose parts are the types of
// package getproviders:
//
//	direct             the registry of the provider's host
//	filesystem_mirror  [getproviders.FilesystemMirror]
//	network_mirror     [getproviders.NetworkMirror]
//	oci_mirror         [getproviders.OCIMirror]; only in tofu
//	include, exclude   [getproviders.ParsePattern]
//	several methods    [getproviders.Multi]
//
// Without the block there are implied mirrors: terraform.d/plugins in the directory of the
// configuration, and the plugin directories of the user and the system. If one of these has
// a package of a provider, the provider's registry is never asked. All other providers come
// from their registries.
//
// A mirror whose path is relative belongs to the project. It delivers packages and confirms none; see
// [getproviders.FilesystemMirror].
//
// dev_overrides control what the stock tools start, not what they install and lock. So they
// are only listed, in [ProviderInstallation].
//
// The plugin cache directory is TF_PLUGIN_CACHE_DIR, or else plugin_cache_dir, in which
// variables are expanded. It need not exist. The number of retries of downloads is set by
// the method direct, or else by TF_PROVIDER_DOWNLOAD_RETRY.
//
// # netrc
//
// Passwords for http servers are read from the file that NETRC names, or else from ~/.netrc
// (on Windows _netrc). A "default" entry is not used, because it would send a password to
// any server that an address names.
//
// # OCI registries
//
// Credentials for OCI registries are read from the blocks above, and from these files:
// containers/auth.json below XDG_RUNTIME_DIR, XDG_CONFIG_HOME or ~/.config,
// ~/.docker/config.json, and ~/.dockercfg. Their helpers are docker-credential-NAME in
// absolute directories of PATH.
//
// # Files and helpers
//
// A file may be /dev/null, which counts as empty, or a pipe, such as a shell creates for
// TF_CLI_CONFIG_FILE=<(command). A home directory that does not exist or cannot be searched
// has no files. If the user has no permission to read a file in it, there is a warning.
//
// The output of helpers is never shown, because it may contain a secret. If a helper fails,
// the error says how to run it by hand.
//
// # Differences from the stock tools
//
//   - Helpers are limited to 10 seconds and 64 KiB of output. As in stock tools, they get
//     the whole environment, because only a helper's author knows what it needs.
//   - A helper that failed is not run again for the same host.
//   - Files are limited to 1 MiB, 100,000 tokens and 2000 opening brackets, and retries to 100.
//   - A repository_template can contain only literal text, ${hostname}, ${namespace} and
//     ${type}; other expressions of HCL are errors.
//   - retry_count and TF_REGISTRY_DISCOVERY_RETRY, which stock tools use for discovery and
//     registries only, also limit how often the cotter command requests the package of a
//     provider, unless there is a number for downloads of providers.
//   - A plugin cache directory that does not exist is not an error, because nothing is
//     written there.
//
// # What it does not do
//
//   - It writes nothing. There is no "login", and helpers are run only with the verb
//     "get".
//   - It does not resolve aliases of Docker Hub: an OCI registry has only the name that is
//     in the source address.
package cliconfig
