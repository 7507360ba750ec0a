module "a" {
  source = "git::https://example.com/a.git"
  source = "git::https://example.com/b.git" # ERROR: Attribute redefined
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
