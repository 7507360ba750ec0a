// Package cliconfig reads the settings and credentials that users of tofu and
// terraform already have: the CLI configuration, netrc, and the configuration of
// Docker and Podman. https://opentofu.org/docs/cli/config/config-file/ describes
// the first.
//
//	env := cliconfig.OSEnvironment()
//	config, diags := env.Load(ctx, cliconfig.Options{})
//	services := &disco.Client{
//		Credentials:    config,
//		ForcedServices: config.Services,
//		Retries:        config.Retries,
//	}
//	fetcher := &getmodules.Fetcher{
//		CacheDir:        env.CacheDir(),
//		HTTPCredentials: config.HTTPCredentials,
//		OCICredentials:  config.OCICredentials,
//	}
//
// Diagnostics may be warnings only. The environment comes from the caller:
// [OSEnvironment] returns that of the process, and tests make their own.
// [Environment.CacheDir] and [Environment.StateDir] return the directories of
// the cotter command, so that programs can share them.
//
// # CLI configuration
//
// The main file is TF_CLI_CONFIG_FILE, or else TERRAFORM_CONFIG. If neither is
// set it is the first of ~/.tofurc, ~/.terraformrc and
// $XDG_CONFIG_HOME/opentofu/tofurc that exists (on Windows tofu.rc and
// terraform.rc in %APPDATA%), and all files *.tfrc and *.tfrc.json of the
// configuration directory are read too, in the order of their names. That
// directory is ~/.terraform.d (on Windows %APPDATA%\terraform.d), or else
// $XDG_CONFIG_HOME/opentofu. With [Options].Terraform only terraform's names
// are used.
//
// These blocks are used, and all others are skipped:
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
// If several files have the same setting, the last file wins, except for
// registry_protocols, where the first one does. Variables win over files:
// TF_TOKEN_registry_example_com (two underscores stand for a dash, one for a
// dot), TF_REGISTRY_DISCOVERY_RETRY and TF_REGISTRY_CLIENT_TIMEOUT. The
// credentials helper is asked last. It is the newest
// terraform-credentials-NAME in the plugin directories of stock tools.
//
// The syntax is that of HCL version 1 or JSON, whichever the first character of
// a file says, and the parser is that of the stock tools.
//
// # netrc
//
// Passwords for http servers are in the file that NETRC names, or else ~/.netrc
// (on Windows _netrc). A "default" entry is not used: it would send a password
// to any server that an address names.
//
// # OCI registries
//
// Credentials for OCI registries are in the blocks above, and in the files
// containers/auth.json, below XDG_RUNTIME_DIR, XDG_CONFIG_HOME or ~/.config,
// ~/.docker/config.json and ~/.dockercfg. Their helpers are
// docker-credential-NAME in absolute directories of PATH.
//
// # Files and helpers
//
// A file may be /dev/null, which is an empty one, or a pipe, such as a shell
// makes for TF_CLI_CONFIG_FILE=<(command). A home directory that does not exist
// or cannot be searched has no files. A file in it that the user has no
// permission to read is a warning.
//
// The output of helpers is never shown, since it may contain a secret. The error
// of a helper that failed says how to run it by hand.
//
// # Differences from the stock tools
//
//   - Helpers get 10 seconds and 64 KiB of output. Like there, they get the whole
//     environment: only a helper's author knows what it needs.
//   - A helper that failed is not run again for the same host.
//   - Files are limited to 1 MiB and 2000 opening brackets, and retries to 100.
//
// # What it does not do
//
//   - It writes nothing. There is no "login", and helpers are only run with the
//     verb "get".
//   - It resolves no aliases of Docker Hub: an OCI registry has the one name that
//     is in the source address.
//   - It reads nothing about providers.
package cliconfig
