// Package layering has no code. Its tests check rules for the whole tree that a compiler does not
// check:
//
//   - the order of the module's packages in layers, and which of them may import the few heavy
//     dependencies;
//   - the dependencies that packages for embedding must not have;
//   - the internal packages that cmd/cotter may import;
//   - no parser of HCL without limits, and no templates;
//   - no messages below the command that name its subcommands, flags or environment variables;
//   - files of at most 500 lines, functions of at most 80 lines, and no package names without a
//     meaning, such as "util";
//   - a doc.go and a runnable example in every public package.
//
// The tests parse the tree, so they work even if a package does not compile.
package layering
