module "a" {
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "b" {
  source = "git::https://example.com/b.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "a" { # ERROR: Duplicate module block
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
