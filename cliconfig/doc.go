// Package cliconfig reads the settings and credentials that users of tofu and terraform already have: the CLI
// configuration (https://opentofu.org/docs/cli/config/config-file/), netrc, and the configuration of Docker and
// Podman. The caller provides the environment: [OSEnvironment] returns that of the process, and tests make
// their own. Nothing is written, and helpers are run only with the verb "get".
//
//	env := cliconfig.OSEnvironment()
//	config, err := env.Load(ctx, cliconfig.Options{})
//	services := &disco.Client{Credentials: config, ForcedServices: config.Services, Attempts: config.Attempts}
//
// The files are those of tofu, or with [Options].Terraform those of terraform. These settings are used, and all
// others are skipped: credentials, credentials_helper, host, registry_protocols, oci_credentials,
// oci_default_credentials, provider_installation, plugin_cache_dir. If several files have the same setting, the
// last one counts; for registry_protocols and plugin_cache_dir, the first. Variables take precedence:
// TF_TOKEN_registry_example_com (two underscores stand for a dash, one for a dot), TF_REGISTRY_DISCOVERY_RETRY,
// TF_REGISTRY_CLIENT_TIMEOUT, TF_PROVIDER_DOWNLOAD_RETRY and TF_PLUGIN_CACHE_DIR. The syntax is HCL version 1 or
// JSON, with the parser of the stock tools.
//
// A file may be /dev/null, which counts as empty, or a pipe. A home directory that does not exist or cannot be
// searched has no files. Files are limited to 1 MiB, 100,000 tokens and 2000 opening brackets.
//
// Helpers are limited to 10 seconds and 64 KiB of output. As in stock tools, they get the whole environment,
// because only a helper's author knows what it needs. Their output is never shown, because it may contain a
// secret. A helper that failed is not run again for the same host.
//
// Unlike in stock tools, a "default" entry of netrc is not used: it would send a password to any server that an
// address names. A repository_template can contain only text and ${hostname}, ${namespace} and ${type}. The
// retries of registries also limit downloads of providers that have no number of their own.
package cliconfig
