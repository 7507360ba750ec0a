package lockfile

// ParseSyntax exports parseSyntax for its comparison with the parser.
var ParseSyntax = parseSyntax
