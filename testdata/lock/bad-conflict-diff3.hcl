module "a" {
  version = "1.0.0"
||||||| 1234567 # ERROR: Merge conflict in lock file
  version = "1.1.0"
  source = "git::https://example.com/a.git"
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
