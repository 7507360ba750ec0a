// Package configs reads the module calls and the provider requirements of one module
// directory.
//
// It reads what an installer needs: the source and the version in the "module"
// blocks of the configuration files. Everything else in a file is ignored, errors
// included, because the stock tools that run afterwards report them better.
//
// # Files
//
// A directory's files are those that stock tools read: names that end in .tf,
// .tf.json, .tofu or .tofu.json, but not names that begin with a dot, end in
// "~" or begin and end with "#", and no directories. "x.tofu" replaces "x.tf", and
// "x.tofu.json" replaces "x.tf.json". The terraform dialect does not read .tofu
// files at all.
//
// A file whose name is "override", or ends in "_override" before the suffix, is
// an override file: its calls replace the source and the version of calls that
// the other files declare, in the order of the file names.
//
// # Values
//
// Source and version are expressions, which package eval evaluates. The result
// is a string, or a number, which is converted to one. A version may also be null,
// which means no version. A JSON string is a template.
//
// In the tofu dialect they may refer to var.NAME, local.NAME, path.module,
// path.root, path.cwd, terraform.workspace and tofu.workspace. Everything else,
// such as a resource, a module's output or each.key, is unknown. It is an error if the
// result depends on an unknown value. The declarations that an expression refers
// to are read when it is evaluated, so not at all for a module of literals.
//
// In the terraform dialect the rules are those of Terraform 1.15. Earlier
// versions accept only literals, and take JSON strings verbatim; they report what
// they do not accept. A source may refer to var.NAME, local.NAME and path, and a
// version to var.NAME and local.NAME. Any other reference is an error, whether or
// not the result depends on it. Only variables with "const = true" are known, in the
// root module as in all others; the workspace is unknown. Local values may refer to
// everything, and are known if everything that they depend on is. Unlike in Terraform, a
// const variable without a value is an error only if a source or version needs it.
//
// A variable of the root module has the last of these values: its default,
// [Inputs].Environment, terraform.tfvars, terraform.tfvars.json, *.auto.tfvars
// and *.auto.tfvars.json in the order of their names, and [Inputs].Variables in
// theirs. This is the order of stock tools. In any other module it has the value
// of the argument in the calling module, evaluated there, or else its default.
// Values are converted to the variable's type, with the defaults of optional
// attributes. Null means the default if the variable does not allow null. Validation rules
// are not checked. A variable with "const = false" cannot be used in either
// dialect.
//
// A sensitive or ephemeral value is an error that names the variable and never
// shows the value: it would end up in the lock.
//
// Functions read files as stock tools do in the user's own modules. A package's
// module can read the files of the package only, by names that begin with
// path.module.
//
// The package does not parse the strings: the caller checks whether an address or
// a constraint is valid.
//
// # Providers
//
// If [Reader].Providers is set, Read returns what the module requires:
//
//   - the entries of its required_providers block, those of override files included:
//     an object of literals, or a version constraint alone;
//   - the versions in provider blocks;
//   - for each local name without an entry the first place that implies it: a
//     resource, data source or ephemeral resource by its provider argument or else by
//     its type up to the first "_", a provider block, an import block. In the tofu
//     dialect a provider block in a test does too, and in the terraform dialect an
//     action; there an import counts only if its resource would be in this module and
//     is not declared.
//
// Such a name stands for a provider in the namespace "hashicorp" of the dialect's
// registry, and "terraform" for the built-in one. Nothing is inherited from the calling
// module. Built-in providers are checked and left out. Provider functions,
// provider_meta, moved, removed and mock_provider blocks require nothing.
//
// What is wrong with requirements is reported apart from the errors in module calls, so
// that modules can be installed without providers. This includes the syntax errors of
// files that are not read for module calls. Of these files, only the blocks that may
// have to do with providers are parsed, unless something in the file is unusual.
//
// # Tests
//
// The "module" blocks in the "run" blocks of a root module's tests are calls
// too, if [Dir].Tests is set: those of *.tftest.hcl and *.tftest.json, and in
// the tofu dialect *.tofutest.hcl and *.tofutest.json, in the module's directory
// and in that of the tests. Their arguments are literal in both dialects.
//
// # Errors
//
// Every problem is a diagnostic with a file and a line. If its cause is an error of
// the operating system, Extra has that error. Calls that could be read are returned
// in spite of errors.
//
// Syntax errors are reported for files that can have a module call. A file that
// cannot (see mayHold) is not parsed for calls.
//
// # Limits
//
//   - a file: 4 MiB;
//   - all files of one directory: 64 MiB;
//   - nesting: 200 levels, checked before the parser sees the file;
//   - a JSON string with a template sequence in it: 4 KiB;
//   - syntax errors reported for one file: 20;
//   - a chain of references, through locals and modules: 500;
//   - the work of evaluation, which package eval bounds for each module and for
//     a tree of them.
//
// Only regular files are read. A link is followed, but not out of the directory's
// boundary if it has one. A pipe, socket or device with the name of a configuration
// file is an error, and nothing here blocks on one. Only a file of values that the
// user named may be a pipe or /dev/null. Each file is read once, and those of
// modules with expressions again for their declarations, because keeping those of
// a large tree would take too much memory.
package configs
