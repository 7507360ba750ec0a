// Package eval evaluates single expressions of the HCL native syntax, with
// bounded work.
//
// The arguments of a module call may come from an untrusted package
// yet, and HCL's own evaluator has no bounds: a few nested loops, or a local
// value that holds the one before twice, fill any memory. So each part of an
// expression is wrapped before it is evaluated, and a [Meter] counts what is
// done, always before memory is taken for it where the result can be larger
// than what it is made of.
//
// # Functions
//
// Functions have the names and meanings that they have in OpenTofu, with or
// without "core::" in front. Those that give another value each time
// (timestamp, plantimestamp, uuid, bcrypt) are refused: what was locked in one
// run would not be found in the next. Some are missing, because no address
// needs them: those of IP networks, of YAML and of gzip, RSA, and the user's
// home. Each of these is an error that names the function. In a file that
// templatefile renders, no function can read another file.
//
// # Secrets
//
// Values have marks that say that they are sensitive, ephemeral or not known,
// and where that comes from ([Mark]). All that is computed from such a value
// has the mark too. Where an expression uses a secret, an error about it has
// none of the words of HCL, which quotes values.
//
// # Limits
//
// Work is counted in units: one for each byte of a string, 16 for each value,
// 8 for each part of an expression each time that it is evaluated. A number
// also counts a sixteenth of the square of its decimal digits, since 1e999999999
// is short. A tuple or an object also counts a quarter of the square of its
// length, because the types of any two elements may be compared to make a list
// of it. Functions
// that may take more than their arguments are large, such as join, replace,
// setproduct, format or regex, are counted by a bound of their own before they
// begin.
//
//   - a module: 4,194,304 units, which is below a second and about 30 MB;
//   - a tree of modules: 268,435,456 units;
//   - one string, or file: 256 KiB;
//   - a template file, or a JSON string with a template in it: 4 KiB, since
//     nothing checks how deep it nests;
//   - range: 1,024 numbers, as in stock tools;
//   - errors reported for one expression: 3.
//
// Whoever goes over a limit gets [ErrTooMuchWork], for all further expressions
// of the module too, whatever try and can make of it.
package eval
