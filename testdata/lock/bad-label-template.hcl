module "a${b}" { # ERROR: Invalid string literal
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
