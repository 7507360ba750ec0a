module "a" {
  source = "git::https://example.com/\q.git" # ERROR: Invalid escape sequence
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
}
