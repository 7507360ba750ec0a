module "registry.opentofu.org/terraform-aws-modules/vpc/aws" {
  version     = "3.19.0"
  constraints = "~> 3.0"
  hashes      = ["whatever"]
}

module "registry.opentofu.org/terraform-aws-modules/vpc/aws" {
  anything = [for x in y : z]
}

module "a" {
  source   = "git::https://example.com/a.git"
  hashes   = ["t1:aLD+IROgIN4Q6gscy/WhdFrSnIvFK2zSVP33W5z/Rds=", "h9:kept"]
  floating = local.unknown
  resolved {
    commit = upper("x")
  }
}
