// Package layering has no code. Its tests check the rules for the tree as a whole
// that no compiler checks:
//
//   - the order of our packages, in layers, and who may import the few heavy
//     dependencies;
//   - what the packages that others embed must not pull in;
//   - no reading of the environment, printing, logging or init functions
//     below the command;
//   - no messages below the command that name its subcommands, flags or
//     environment variables;
//   - files of at most 500 lines, functions of at most 80, and no package
//     named for nothing;
//   - a doc.go and a runnable example in every public package.
//
// The tests parse the tree, so they work while a package does not compile.
package layering
