// Package layering holds no code, only tests: of the rules that the tree as a
// whole keeps and no compiler checks.
//
//   - which of our packages a package may import, and who may import the few
//     heavy dependencies;
//   - what the packages that others embed must not pull in;
//   - no reading of the environment, printing, logging or init functions
//     below the command;
//   - files of at most 500 lines, functions of at most 80, and no package
//     named for nothing;
//   - a doc.go and a runnable example in every public package.
//
// The tests parse the tree, so they work while a package does not compile.
package layering
