module "a" {
  version     = file("/etc/passwd")                  # ERROR: Not a literal string
  source      = "git::https://example.com/${x}.git" # ERROR: Not a literal string
  constraints = upper("a")                           # ERROR: Not a literal string
  package     = local.x                              # ERROR: Not a literal string
  hashes      = concat(["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="])                 # ERROR: Not a literal list
}

module "b" {
  version     = 1                    # ERROR: Not a literal string
  source      = ("git::x")           # ERROR: Not a literal string
  constraints = null                 # ERROR: Not a literal string
  package     = "${"a"}"           # ERROR: Not a literal string
  hashes      = [for x in y : "h1:"] # ERROR: Not a literal list
}

module "c" {
  source  = true                   # ERROR: Not a literal string
  package = "a" == "a" ? "b" : "c" # ERROR: Not a literal string
  hashes = [
    "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=",
    "%{ if true }t1%{ endif }", # ERROR: Not a literal string
    x.y,                          # ERROR: Not a literal string
  ]
}

module "d" {
  source = "git::https://example.com/a.git"
  hashes = "h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4=" # ERROR: Not a literal list
}
