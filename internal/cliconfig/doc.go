// Package cliconfig reads what the CLI configuration of tofu and terraform says
// about registries: tokens, and hosts whose services are given by hand.
//
// # Where it comes from
//
// The main file is TF_CLI_CONFIG_FILE, or else TERRAFORM_CONFIG. If neither is
// set it is the first of ~/.tofurc, ~/.terraformrc and
// $XDG_CONFIG_HOME/opentofu/tofurc that exists (on Windows tofu.rc and
// terraform.rc in %APPDATA%), and all files *.tfrc and *.tfrc.json of the
// configuration directory are read too, in the order of their names: that is
// ~/.terraform.d, or else $XDG_CONFIG_HOME/opentofu. The terraform dialect knows
// terraform's names only. What a later file says wins.
//
//	credentials "registry.example.com" {
//	  token = "..."
//	}
//
//	host "registry.example.com" {
//	  services = {
//	    "modules.v1" = "https://modules.example.com/v1/"
//	  }
//	}
//
// A variable TF_TOKEN_registry_example_com wins over the files. In its name two
// underscores stand for a dash and one for a dot.
//
// # What it does not do
//
// It runs no credentials helpers yet, and reads nothing about providers, OCI
// registries or timeouts; such blocks are skipped, as are all others. It reads
// no environment by itself: the caller passes it in.
//
// Files are bounded at 1 MiB and 200 levels of nesting.
package cliconfig
