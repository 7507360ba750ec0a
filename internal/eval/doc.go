// Package eval evaluates single expressions of the HCL native syntax, with
// bounded work.
//
// The arguments of a module call may come from a package that is not trusted yet.
// HCL's own evaluator has no limits: a few nested loops, or a chain of local values
// that each contain the previous one twice, fill any memory. So each part of an
// expression is wrapped before it is evaluated, and a [Meter] counts the work. Where a
// result can be larger than its operands, the work is counted before memory is
// allocated.
//
// # Functions
//
// Functions have the names and meanings that they have in OpenTofu, with or
// without the prefix "core::". Functions that return another value on each call
// (timestamp, plantimestamp, uuid, bcrypt) are refused, because a later run would not
// find what an earlier one locked. Functions that no address needs are missing: those
// for IP networks, YAML, gzip, RSA and the user's home directory. Calling one of these
// is an error that names the function. In a file that templatefile renders, no
// function can read another file.
//
// # Secrets
//
// Values have marks that say that they are sensitive, ephemeral or unknown, and why
// ([Mark]). Everything computed from such a value has the mark too. If an expression
// uses a secret, an error about it does not contain the message of HCL, which may
// quote values.
//
// # Limits
//
// Work is counted in units: one for each byte of a string, 16 for each value,
// 8 for each part of an expression each time that it is evaluated. A number
// also counts a sixteenth of the square of its decimal digits, since 1e999999999
// is short. A tuple or an object also counts a quarter of the square of its
// length, because converting it to a list may compare the types of any two elements.
// Functions whose work can exceed the size of their arguments, such as join, replace,
// setproduct, format or regex, are counted by an upper bound before they are called.
//
//   - a module: 4,194,304 units, which is below a second and about 30 MB;
//   - a tree of modules: 268,435,456 units;
//   - one string, or file: 256 KiB;
//   - a template file, or a JSON string with a template in it: 4 KiB, since its
//     nesting is not checked;
//   - range: 1,024 numbers, as in stock tools;
//   - errors reported for one expression: 3.
//
// An expression that exceeds a limit is an [ErrTooMuchWork]. So are all further
// expressions of the module. The functions try and can do not hide this error.
package eval
