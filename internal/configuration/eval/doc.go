// Package eval evaluates single expressions of the HCL native syntax, with a limit on the work: they may
// come from a package that is not trusted yet. HCL's own evaluator has no limits, and a few nested loops, or
// a chain of local values that each contain the previous one twice, can fill any memory. So each part of an
// expression is wrapped, and a [Meter] counts the work before memory is allocated.
//
// Functions are those of OpenTofu, without those that return another value on each call, and a few others that
// docs/stock-tools.md lists. The result is sent to the server that it names as an address: so values from a secret have a
// [Mark], and files can be read as far as [Files] allows.
package eval
