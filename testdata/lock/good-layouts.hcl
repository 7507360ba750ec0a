// comments of every kind, brackets in them: [[[ {{ ((
/* module "no" { */
module a { # an unquoted label
  hashes = ["h1:iqYvVg+3d+3KF+RfDRzUpRE8bnk+NAckZGU2rNixyr4="]
  source = "https://example.com/$${x}/%%{y}/\"quoted\"/\u00e9.zip"
}
module "a.b" {
    source="git::ssh://git@example.com/a.git//sub?ref=main"
    hashes=[ # comment
      "t1:fdggKQ7w9hYc+tVx4D/Ro000z5lTZbeaoQZ2kwPs/I8=" , # t1
      "h1:iWuPGh2HJ+uqBVwjY66DJxHvoa3HImwnkTPSLUDbYZQ=" ]
}
