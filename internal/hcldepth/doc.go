// Package hcldepth parses HCL and JSON from untrusted sources. It refuses files that would take too
// much memory or time, and files that are nested too deeply. No other package calls the parsers; a
// test in internal/layering checks that.
//
// # Size
//
// The parsers take up to 700 bytes of memory for a byte of text, and have no limit of their own: a
// file of 30 MB can take 12 GB. What they take depends on the number of tokens, so the package counts
// these before it parses a text, and refuses texts that have more than [MaxTokens]. No text takes
// more than 200 MiB, whether it is accepted or not. Texts that are parsed at the same time share the
// memory for MaxTokens: others wait. Three things take quadratic time, and are limited too: strings
// of many lines, names of many parts, and numbers of many digits.
//
// Counting begins with an upper bound that does not depend on the syntax. If that exceeds a limit, the
// lexer splits the text into tokens, a few lines at a time.
//
// # Nesting
//
// The parsers of github.com/hashicorp/hcl/v2 (v2.25.0) are recursive and have no limit of their
// own. A file of 120 kB can exhaust the stack that Go allows, which ends the process: the program
// can neither recover from it nor report it.
//
// Counting the open brackets does not prevent this. After its first syntax error, the parser
// skips tokens, including closing brackets, and continues at the depth that it had reached: "b
// {\n x }\n" repeated often enough ends the process although it is never more than one bracket
// deep. Instead, the package relies on three facts that do not depend on HCL's grammar:
//
//   - The parser cannot go deeper than the number of tokens that open a level. A source text with
//     few such tokens is safe, whatever it contains. The budget for these tokens is 1,500
//     brackets or 12,000 operators, which keeps the parser's stack below 32 MiB.
//   - A parser that finds no syntax error is exactly as deep as the number of open brackets.
//   - A line that ends outside of all brackets ends an attribute or a block. A comma, or the end
//     of a line in braces, ends an element of the surrounding brackets. So a file can be parsed
//     in parts that each have a few of these elements and are within the budget. If no part has a
//     syntax error, the whole file has none, however large it is.
//
// So a long list of lists or objects is accepted. An expression that exceeds the budget but has
// no such elements, such as a sum of thousands of lists, is refused.
//
// A file is also refused if its tree is deeper than [MaxDepth], so that evaluating it is safe.
// The deepest real file that we have found has 31 levels.
//
// Expressions in JSON strings count as tokens, but their nesting is not checked. HCL parses them when
// they are evaluated with a context, so callers must evaluate them without one.
//
// Callers must limit the size of a file. A limit of some MiB keeps the time below some seconds.
package hcldepth
