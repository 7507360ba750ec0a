# .terraform.lock.hcl

provider "registry.opentofu.org/hashicorp/aws" {
  version = "5.31.0"
  # ... existing provider lock information
}

module "vpc" {
  version = "3.19.0"
  source  = "registry.opentofu.org/modules/terraform-aws-modules/vpc/aws"

  constraints = ">= 3.0.0, < 4.0.0"

  hashes = [
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
    "zh:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd",
  ]
}

module "vpc.nested" {
  version = "1.2.5"
  source  = "git::https://github.com/example/terraform-module"

  constraints = "~> 1.2"

  hashes = [
    "h1:iWuPGh2HJ+uqBVwjY66DJxHvoa3HImwnkTPSLUDbYZQ=",
  ]
}

module "network" {
  version = "2.3.1"
  source  = "oci://registry.example.com/opentofu/network-module"

  constraints = ">= 2.0.0, < 3.0.0"

  hashes = [
    "h1:20qyUpErURKJCQoeJn7W2a1ClvC+CaYTurDKOoFEmvQ=",
  ]
}
