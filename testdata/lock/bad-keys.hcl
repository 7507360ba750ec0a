module "" { # ERROR: Invalid module key
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "a..b" { # ERROR: Invalid module key
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "1st" { # ERROR: Invalid module key
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
