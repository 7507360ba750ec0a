package lockfile

// ParseSyntax exports parseSyntax, so that tests can compare it with the HCL parser.
var ParseSyntax = parseSyntax
