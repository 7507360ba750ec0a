// Package hcldepth parses HCL and JSON from untrusted sources. No other package calls the parsers; a test in
// internal/layering checks that. The parsers of hashicorp/hcl (v2.25.0) have no limits of their own: a file of
// 30 MB can take 12 GB, and one of 120 kB can exhaust the stack that Go allows, which ends the process.
//
// So tokens are counted before a text is parsed ([MaxTokens]), as are strings of many lines, names of many
// parts and numbers of many digits, which take quadratic time. No text takes more than 200 MiB, and texts that
// are parsed at the same time share the memory of one. Brackets are limited as checkPieces describes.
//
// Expressions in JSON strings count as tokens, but their nesting is not checked: callers must evaluate them
// without a context. Callers must limit the size of a file; some MiB take some seconds at most.
package hcldepth
