module "none" { # ERROR: Missing hashes
  source = "git::https://example.com/a.git"
}

module "empty" {
  source = "git::https://example.com/a.git"
  hashes = [] # ERROR: Missing hashes
}

module "weak" {
  source = "git::https://example.com/a.git"
  hashes = ["zh:559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"] # ERROR: No usable hash
}

module "unknown" {
  source = "git::https://example.com/a.git"
  hashes = ["h9:abc", "md5:0cc175b9c0f1b6a831c399e269772661"] # ERROR: No usable hash
}

module "malformed" {
  source = "git::https://example.com/a.git"
  hashes = [
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
    "h1:abc",                    # ERROR: Invalid hash
    "t1:aLD+IROgIN4Q6gscy/WhdFrSnIvFK2zSVP33W5z/Rd=",  # ERROR: Invalid hash
    "zh:ABC",                    # ERROR: Invalid hash
    "nothing",                   # ERROR: Invalid hash
    "",                          # ERROR: Invalid hash
  ]
}

module "two" {
  source = "git::https://example.com/a.git"
  hashes = [
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
    "h1:iWuPGh2HJ+uqBVwjY66DJxHvoa3HImwnkTPSLUDbYZQ=", # ERROR: Conflicting hashes
    "h9:a",
    "h9:b", # ERROR: Conflicting hashes
  ]
}

module "same" {
  source = "git::https://example.com/a.git"
  hashes = [
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=", # ERROR: Conflicting hashes
  ]
}
