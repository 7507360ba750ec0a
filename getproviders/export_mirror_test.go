package getproviders

var (
	ParseOCIIndex  = findTarget
	ParseOCITarget = findArchive
)
