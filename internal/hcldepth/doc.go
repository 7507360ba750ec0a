// Package hcldepth parses HCL and JSON that others wrote, and refuses what is
// nested too deeply.
//
// The parsers of github.com/hashicorp/hcl/v2 (v2.25.0) are recursive and have no
// bound of their own. A file of 120 kB can exhaust the stack that Go allows,
// which ends the process: the program can neither recover from it nor report it.
//
// Counting the open brackets does not prevent this. After its first syntax error
// the parser skips tokens, closing brackets among them, and goes on at the depth
// where it was: "b {\n x }\n" repeated often enough ends the process although it
// is never more than one bracket deep. The package relies on three facts instead,
// none of which depends on HCL's grammar:
//
//   - The parser cannot go deeper than the number of tokens that open a level. A
//     source text with few of them is safe, whatever it says. The budget for these
//     tokens is 6,000 brackets or 48,000 operators. It keeps the parser's
//     stack below 128 MiB.
//   - A parser that meets no syntax error is as deep as the brackets that are open.
//   - A line that ends outside of all brackets ends an attribute or a block, and a
//     comma, or a line in braces, ends an element of the brackets around it. So a
//     file can be parsed in parts that have a few of these each and are within the
//     budget. If no part has a syntax error then neither has the file, however
//     large it is.
//
// A long list of lists or objects is therefore fine. An expression that is beyond
// the budget without such elements, as a sum of thousands of lists, is refused.
//
// What was parsed is refused as well if its tree is deeper than [MaxDepth], so
// that evaluating it is safe. The deepest of the files that were tried has 31
// levels.
//
// Expressions within JSON strings are not covered. HCL parses them when they are
// evaluated with a context, so evaluate them without one.
//
// Callers bound the size of a file.
package hcldepth
