// Package wildmatch matches paths with the patterns of .gitattributes and .gitignore files, as git's function of that
// name does. The rules are those of gitignore(5); what is a line, a negation or a directory, callers decide.
// Patterns are case-sensitive.
package wildmatch
