// Package nesting refuses HCL and JSON that is nested too deeply, before a
// parser sees it.
//
// The parsers of github.com/hashicorp/hcl/v2 (v2.25.0) descend recursively
// without a bound. A file of 120 kB can so exhaust Go's 1 GB stack, and that
// ends the process: it can be neither recovered from nor reported. The checks
// here are one linear pass over the bytes without a heap allocation.
//
// What counts as one level, because the parser recurses on it:
//   - an open block, "(", "[" or "{", function call or index;
//   - an open template sequence "${" or "%{", and an "if" or "for" directive
//     that waits for its end;
//   - each "?" of one expression, as conditionals nest to the right;
//   - each "-" or "!" in front of one term, and each "[*]" behind one.
//
// Brackets in comments, string literals and heredocs do not count. Neither do
// long flat lists, however long. Binary operators and indexes in a row do not
// make the parser recurse, but whatever walks the resulting tree does, so they
// have a limit of their own, [ChainFactor] times the nesting limit.
//
// A count of open brackets is not enough. After its first syntax error the
// parser skips tokens, closing brackets among them, and goes on at the depth
// where it was: "b {\n x }\n" over and over ends the process although it is
// never more than one bracket deep. Each check therefore follows the grammar.
// At the first token that does not fit it stops counting exactly and takes
// every bracket behind as one level more; where those are too many for the
// parser to survive, it returns a [*SyntaxError] in the parser's stead. A file
// with a syntax error and little behind it passes, so that the parser, whose
// messages are better, can report it.
//
// What the package does not do:
//   - it does not validate: nil means safe to parse, not correct;
//   - it does not look at expressions inside JSON strings, which HCL parses
//     when they are evaluated with a context; evaluate them with a nil one;
//   - it does not bound the size of a file; callers do that first.
package nesting
