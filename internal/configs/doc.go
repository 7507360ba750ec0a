// Package configs reads the module calls of one module directory.
//
// It reads what an installer needs and is no language server: the "module"
// blocks of the configuration files, and of those the source and the version.
// Everything else in a file is ignored, however wrong, because the stock tools
// that run afterwards report it better.
//
// # Files
//
// A directory's files are those that stock tools read: names that end in .tf,
// .tf.json, .tofu or .tofu.json, but not names that begin with a dot, end in
// "~" or stand between two "#", and no directories. "x.tofu" takes the place of
// "x.tf", and "x.tofu.json" that of "x.tf.json". The terraform dialect does not
// read .tofu files at all.
//
// A file that is called "override", or whose name ends in "_override" before
// the suffix, overrides: its calls replace the source and the version of calls
// that the other files declare, in the order of the file names.
//
// # Values
//
// Source and version must be literal: strings, in any notation, numbers (which
// turn into strings) and, for a version, null, which is as good as none.
// References and function calls are errors that say what cannot be evaluated.
// A JSON string is a template in the tofu dialect and verbatim in the other.
// The package does not look into the strings: whether an address or a
// constraint is valid is for the caller to find out.
//
// # Errors
//
// Everything that goes wrong is a diagnostic with a file and a line. Where an
// operating system error is behind it, Extra holds that error. Calls that could
// be read are returned beside the errors.
//
// Syntax errors are reported for files that can hold a module call. A file that
// cannot (see mayHoldCalls) is not parsed.
//
// # Limits
//
//   - a file: 4 MiB;
//   - all files of one directory: 64 MiB;
//   - nesting: 200 levels, checked before the parser sees the file;
//   - a JSON string with a template sequence in it: 4 KiB;
//   - syntax errors reported for one file: 20.
//
// Only regular files are read. A link is followed, but not out of the
// directory's boundary where it has one. A pipe, socket or device under a
// configuration file's name is an error; nothing here blocks on one. Each file
// is read once.
package configs
