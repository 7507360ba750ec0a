package getproviders

// Parsers of OCI artifacts, for fuzzing.
var (
	ParseOCIIndex  = parseOCIIndex
	ParseOCITarget = parseOCITarget
)
