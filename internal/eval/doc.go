// Package eval evaluates single expressions of the HCL native syntax, with a limit on the work. The
// arguments of a module call may come from a package that is not trusted yet, and HCL's own evaluator has no
// limits: a few nested loops, or a chain of local values that each contain the previous one twice, can fill
// any memory. So each part of an expression is wrapped before it is evaluated, and a [Meter] counts the work,
// before memory is allocated if a result can be larger than its operands.
//
// Functions are those of OpenTofu, without those that return another value on each call, and those that no
// address needs. The result becomes a part of an address, and is sent to the server that the address names:
// values from a secret have a [Mark], and files can be read as far as [Files] allows.
package eval
