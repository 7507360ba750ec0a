# root.hcl, which the units include
terraform {
  before_hook "cotter" {
    commands = ["init"]
    execute  = ["cotter", "install"]
  }
}
