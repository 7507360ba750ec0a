// Package configread reads what an installer needs from the files of one module directory: the module calls
// and the provider requirements. It ignores everything else, also errors, which the stock tools report
// better. Files, overrides and values are those of the dialect's stock tool (Terraform: 1.15). The
// declarations that an expression refers to are read only when it is evaluated.
//
// Sources and versions are sent to servers and written into the lock. So secrets are refused, functions
// read only files of the repository (AllowFileReads of the inputs lifts that) or of the package, and all
// is limited: a file of a package to 4 MiB, and one of the user to 32 MiB (package hcldepth limits what is
// parsed of it), evaluation by package eval.
package configread
