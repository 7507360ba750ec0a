// Package cliconfig reads what the CLI configuration of tofu and terraform says
// about registries: tokens and the programs that know them, hosts whose
// services are given by hand, timeouts, and the credentials of OCI registries.
// https://opentofu.org/docs/cli/config/config-file/ describes the files.
//
// # Where it comes from
//
// The main file is TF_CLI_CONFIG_FILE, or else TERRAFORM_CONFIG. If neither is
// set it is the first of ~/.tofurc, ~/.terraformrc and
// $XDG_CONFIG_HOME/opentofu/tofurc that exists (on Windows tofu.rc and
// terraform.rc in %APPDATA%), and all files *.tfrc and *.tfrc.json of the
// configuration directory are read too, in the order of their names: that is
// ~/.terraform.d (on Windows %APPDATA%\terraform.d), or else
// $XDG_CONFIG_HOME/opentofu. The terraform dialect knows terraform's names only.
//
// # What it understands
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
// All other blocks are skipped. Where several files speak of the same thing,
// the last one read wins, except for registry_protocols, where it is the first
// one. Variables win over files: TF_TOKEN_registry_example_com (two underscores
// stand for a dash, one for a dot), TF_REGISTRY_DISCOVERY_RETRY and
// TF_REGISTRY_CLIENT_TIMEOUT. A credentials helper is asked last.
//
// A helper is the newest terraform-credentials-NAME in the plugin directories
// of stock tools, and docker-credential-NAME on the PATH for OCI registries.
// Their output is never shown, as it may hold a secret, so a message about one
// that failed tells how to run it by hand.
//
// A file may be /dev/null, which is an empty one, or a pipe, such as a shell
// makes for TF_CLI_CONFIG_FILE=<(command). A home directory that does not exist
// or that may not be searched has no files; a file in it that the user has no
// right to read is a warning.
//
// # Stricter than the stock tools
//
//   - Helpers get 10 seconds and 64 KiB of output. Their environment is the
//     whole one, as with stock tools: what a helper needs, such as
//     CI_JOB_TOKEN, is known to its author alone.
//   - A helper that fails is not asked a second time in one run.
//   - Files are bounded at 1 MiB and 200 levels of nesting, and retries at 100.
//
// # What it does not do
//
//   - It reads no environment by itself: the caller passes it in.
//   - It writes nothing, so it knows no "login", and of the helpers' verbs only
//     "get".
//   - It resolves no aliases of Docker Hub: an OCI registry is known by the one
//     name that a source address has.
//   - It reads nothing about providers.
package cliconfig
