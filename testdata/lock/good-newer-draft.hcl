module "registry.opentofu.org/terraform-aws-modules/vpc/aws" {
  version     = "3.19.0"
  constraints = "~> 3.0"
  hashes      = ["h1:3ViH0F8jTqv3nV9Kc4wUN2PGs1IF1GEt3oMPWqxvpA8=", "h9:whatever"]
}

module "registry.opentofu.org/terraform-aws-modules/vpc/aws" {
  anything = [for x in y : z]
}

module "registry.opentofu.org/modules/terraform-aws-modules/vpc/aws//modules/endpoints" {
  version = "3.18.0"
  hashes  = ["whatever"]
}

module "git::https://example.com/vpc.git" {
  version = "1.0.0"
  hashes  = ["zh:${x}"]
}

module "a" {
  source   = "git::https://example.com/a.git"
  hashes   = ["t1:aLD+IROgIN4Q6gscy/WhdFrSnIvFK2zSVP33W5z/Rds=", "h9:kept"]
  floating = local.unknown
  resolved {
    commit = upper("x")
  }
}
