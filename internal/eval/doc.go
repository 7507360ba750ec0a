// Package eval evaluates single expressions of the HCL native syntax, with a limit on the work.
//
// The arguments of a module call may come from a package that is not trusted yet. HCL's own
// evaluator has no limits: a few nested loops, or a chain of local values that each contain the
// previous one twice, can fill any memory. So each part of an expression is wrapped before it is
// evaluated, and a [Meter] counts the work. If a result can be larger than its operands, the work
// is counted before memory is allocated.
//
// # Functions
//
// Functions have the same names and meanings as in OpenTofu, with or without the prefix "core::".
// Functions that return a different value on each call (timestamp, plantimestamp, uuid, bcrypt)
// are refused, because a later run would not find what an earlier one locked. Functions that no
// address needs are not supported: those for IP networks, YAML, gzip, RSA and the user's home
// directory. Calling one of these is an error that names the function. In a file that
// templatefile renders, functions cannot read other files.
//
// # Values in addresses
//
// The result of an expression becomes a part of an address, and is sent to the server that the
// address names. So the author of a configuration can send everything that an expression can read
// to any server. The caller decides what that is:
//
//   - values of variables, given by the user or by the configuration, may be read. The user gives
//     them for that purpose;
//   - defaults and files of values are literals ([Meter.Constant]). They call no functions;
//   - sensitive and ephemeral values must not become part of an address; see below;
//   - the environment cannot be read, nor anything that is known only after an installation;
//   - files can be read as far as [Files] allows. A file that is refused, with a [RefusedError],
//     always makes the evaluation fail. The functions try and can do not hide it, because the
//     result would be another address than in stock tools.
//
// # Secrets
//
// Values can have marks that they are sensitive, ephemeral or unknown, with the reason ([Mark]).
// Everything that is computed from such a value has the mark too. If an expression uses a secret,
// an error about it does not contain HCL's message, because that may quote values.
//
// # Limits
//
// Work is counted in units: one for each byte of a string, 16 for each value, and 8 for each part
// of an expression each time that it is evaluated. A number also counts a sixteenth of the square
// of its decimal digits, because 1e999999999 is short. A tuple or an object also counts a quarter
// of the square of its length, because converting it to a list may compare the types of any two
// elements. The work of functions such as join, replace, setproduct, format or regex can exceed
// the size of their arguments. For them, an upper bound is counted before the call.
//
//   - a module: 4,194,304 units, which takes less than a second and about 30 MB;
//   - a tree of modules: 268,435,456 units;
//   - one string or file: 256 KiB;
//   - a template file, or a JSON string with a template: 4 KiB, because its nesting is not
//     checked;
//   - range: 1,024 numbers, as in stock tools;
//   - errors reported for one expression: 3.
//
// If an expression exceeds a limit, the error is [ErrTooMuchWork], also for all further
// expressions of the module. The functions try and can do not hide this error.
package eval
