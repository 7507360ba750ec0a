// Package configs reads the module calls and the provider requirements of one module
// directory.
//
// It reads only what an installer needs: the source and the version in the "module" blocks of the
// configuration files. It ignores everything else in a file, including errors, because the stock
// tools that run afterwards report them better.
//
// # Files
//
// A directory's files are the files that stock tools read: those whose names end in .tf,
// .tf.json, .tofu or .tofu.json. Names that begin with a dot, end in "~", or begin and end with
// "#" are skipped, and so are directories. "x.tofu" replaces "x.tf", and "x.tofu.json" replaces
// "x.tf.json". The terraform dialect does not read .tofu files at all.
//
// A file is an override file if its name without the suffix is "override" or ends in "_override".
// Its calls replace the source and the version of calls that the other files declare. Override
// files are applied in the order of their names.
//
// # Values
//
// Source and version are expressions, which package eval evaluates. The result must be a string,
// or a number, which is converted to a string. A version may also be null, which means that there
// is no version. A JSON string is a template.
//
// In the tofu dialect, expressions may refer to var.NAME, local.NAME, path.module, path.root,
// path.cwd, terraform.workspace and tofu.workspace. Everything else, such as a resource, a
// module's output or each.key, is unknown, and it is an error if the result depends on an unknown
// value. The declarations that an expression refers to are read only when it is evaluated, so a
// module with only literals does not need them.
//
// In the terraform dialect, the rules are those of Terraform 1.15. Earlier versions accept only
// literals, take JSON strings verbatim, and report what they do not accept. A source may refer to
// var.NAME, local.NAME and path, and a version to var.NAME and local.NAME. Any other reference is
// an error, even if the result does not depend on it. Only variables with "const = true" are
// known, in the root module as in all others. The workspace is unknown. Local values may refer to
// everything, and are known if everything that they depend on is known. Unlike in Terraform, a
// const variable without a value is an error only if a source or version needs it.
//
// The value of a variable of the root module comes from the last of these that has one, as in
// stock tools: its default, [Inputs].Environment, terraform.tfvars, terraform.tfvars.json, the
// *.auto.tfvars and *.auto.tfvars.json files in the order of their names, and [Inputs].Variables
// in their order. In any other module, the value is that of the argument in the calling module,
// evaluated there, or else the default.
// Values are converted to the variable's type, with the defaults of optional attributes. If the
// variable does not allow null, null means the default. Validation rules are not checked. A
// variable with "const = false" cannot be used in either dialect.
//
// A sensitive or ephemeral value is an error, because it would be written into the lock. The
// error names the variable and never shows the value.
//
// In the user's own modules, functions can read files of the git repository; see below. The same applies to files of values that are links, unless the user has named them. With
// [Inputs].AllowFileReads, all files can be read, as in stock tools. In a package's module, they
// can read only files of the package, by names that begin with path.module. There, abspath and
// path.cwd are errors, because they contain the path of the project.
//
// The package does not parse the strings: the caller checks whether an address or a constraint is
// valid.
//
// # Files that expressions can read
//
// The author of a pull request can write file("/proc/self/environ") into the source of a module
// call. Cotter would then send the tokens in that file to a server of the author's choice. So the
// functions can read only files of the repository that the root module is in.
//
// The directory that holds these files is the nearest directory with an entry named
// .git, at or above the root module. It is the root module's own directory instead if
//
//   - there is no such directory,
//   - git would not use the repository, because it belongs to another user, or
//   - that directory is the user's home directory or above it, as with a repository of dotfiles.
//
// If the root module's own directory is the user's home directory or above it, names that begin
// with a dot cannot be opened either, because programs keep credentials there. If it is the root
// of a file system or inside version control metadata, no file can be opened.
//
// A name is absolute or relative to the root module's directory. Symbolic links are followed one
// component at a time. The path that they result in counts, so a link may point anywhere within
// the directory, also by an absolute target. These are refused with an [*eval.RefusedError]:
//
//   - everything outside of the directory. Nothing outside is looked at, so the result does not
//     depend on whether a file exists there;
//   - version control metadata, such as .git, at any depth and in any spelling
//     ([pathsafe.IsVersionControl]), and directories with another name that are git repositories.
//     Checkouts keep tokens there.
//
// Only regular files are opened, and opening never waits for a pipe. Each directory on the way is
// held open, and is compared with the entry that was checked. So replacing a directory by a link
// at the same time does not help.
//
// # Providers
//
// If [Reader].Providers is set, Read returns what the module requires:
//
//   - the entries of its required_providers block, including those in override files. An entry is
//     an object of literals, or only a version constraint;
//   - the versions in provider blocks;
//   - for each local name without an entry, the first place that implies it: a provider block, an
//     import block, or a resource, data source or ephemeral resource. A resource implies the name
//     in its provider argument, or else the part of its type before the first "_". In the tofu
//     dialect, a provider block in a test also implies its name. In the terraform dialect, an
//     action also does, and an import block counts only if its resource belongs to this module
//     and is not declared.
//
// Such a name stands for a provider in the namespace "hashicorp" of the dialect's registry, and
// "terraform" for the built-in provider. Nothing is inherited from the calling module. Built-in
// providers are checked but not returned. Provider functions and provider_meta, moved, removed
// and mock_provider blocks require nothing.
//
// Errors in requirements are returned separately from the errors in module calls, so that modules
// can be installed without providers. This includes the syntax errors of files that are not
// parsed for module calls. In these files, only the blocks that may concern providers are parsed,
// unless something in the file is unusual.
//
// # Tests
//
// If [Dir].Tests is set, the "module" blocks in the "run" blocks of a root module's tests are
// calls too. Tests are the files *.tftest.hcl and *.tftest.json, and in the tofu dialect
// *.tofutest.hcl and *.tofutest.json, in the module's directory and in its directory of tests.
// Their arguments must be literals in both dialects.
//
// # Errors
//
// Every problem is a diagnostic with a file and a line. If the operating system caused it, Extra
// has that error. Calls that could be read are returned even if there are errors.
//
// Syntax errors are reported only for files that can have a module call. Other files (see
// mayHold) are not parsed for calls.
//
// # Limits
//
//   - a file: 4 MiB;
//   - all files of one directory: 64 MiB;
//   - a file: 250,000 tokens and 200 levels of nesting, checked before the parser sees the file. Real
//     files have up to 40,000 tokens, and 5,000 users in a variable 150,000. Files that are parsed at
//     the same time in one process share the memory for this number of tokens;
//   - a string of many lines: 17,000 lines of 40 bytes, and fewer if they are longer;
//   - a number: 65,536 digits;
//   - a JSON string with a template sequence in it: 4 KiB;
//   - syntax errors reported for one file: 20;
//   - a chain of references, through locals and modules: 500;
//   - the work of evaluation, which package eval limits for each module and for a tree of
//     modules.
//
// Only regular files are read. A link is followed, but not out of the directory's boundary if it
// has one. A pipe, socket or device with the name of a configuration file is an error, and
// opening it never blocks. Only a file of values that the user named may be a pipe or /dev/null.
// Each file is read once. The files of modules with expressions are read again for their
// declarations, because keeping the files of a large tree would take too much memory.
package configs
