package getproviders

// Parsers of OCI artifacts, for fuzzing.
var (
	ParseOCIIndex  = findTarget
	ParseOCITarget = findArchive
)
