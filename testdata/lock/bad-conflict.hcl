provider "registry.opentofu.org/hashicorp/null" {
  version = "3.2.1"
}

module "a" {
<<<<<<< HEAD # ERROR: Merge conflict in lock file
  version = "1.0.0"
=======
  version = "1.1.0"
>>>>>>> theirs
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
