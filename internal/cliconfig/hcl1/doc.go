// Package hcl1 reads the syntax of the CLI configuration of stock tools, which
// is still that of HCL version 1, in its native and in its JSON form:
// https://github.com/hashicorp/hcl/tree/hcl1. The parser of version 2 refuses
// files that are good there: quoted and dotted keys, several arguments on one
// line, strings that hold "${".
//
// To HCL 1 a block is an object that is nested under its labels, so
//
//	host "example.com" { services { "modules.v1" = "/m/" } }
//	host = { "example.com" = { services = { "modules.v1" = "/m/" } } }
//
// and {"host": {"example.com": {"services": {"modules.v1": "/m/"}}}} are all
// the same, also for this package. Which of the forms a file has shows in its
// first character, not in its name.
//
// What it does not do: it evaluates nothing. "${" and all up to its "}" stay in
// a string as they are, and functions and references are syntax errors.
//
// Nesting is bounded, and no error quotes what a file holds: it may be a token.
// The size of a file is for the caller to bound.
package hcl1
