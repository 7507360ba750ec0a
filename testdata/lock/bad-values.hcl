module "nosource" { # ERROR: Invalid source address
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "emptysource" {
  source = "" # ERROR: Empty attribute
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "empty" {
  version     = "" # ERROR: Empty attribute
  source      = "git::https://example.com/a.git"
  constraints = "" # ERROR: Empty attribute
  package     = "" # ERROR: Empty attribute
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "bad" {
  version     = "one.two" # ERROR: Invalid version
  source      = "git::https://example.com/a.git"
  constraints = "about 3" # ERROR: Invalid version constraint
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "escape" {
  source  = "git::https://user:secret@example.com/a.git"         # ERROR: Credentials in lock file
  package = "git::https://user:secret@example.com/a.git?ref=abc" # ERROR: Credentials in lock file
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}

module "replaced" {
  source   = "../a"
  replaces = "git::https://example.com/a.git"
  replaced {
    version = "one" # ERROR: Invalid version
    source  = "git::https://example.com/a.git"
    hashes  = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
  }
  replaced "x" { # ERROR: Invalid replaced block
  }
}
