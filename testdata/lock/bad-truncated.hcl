provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
}

module "a" { # ERROR: Unclosed configuration block
  source = "git::https://example.com/a.git"
