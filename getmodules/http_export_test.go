package getmodules

// CheckLocation exports checkLocation for tests without a network.
var CheckLocation = checkLocation

// MetaLocation exports metaLocation.
var MetaLocation = metaLocation

// ChecksumInFile exports checksumInFile, but returns only the checksum.
func ChecksumInFile(text, name string) ([]byte, error) {
	found, err := checksumInFile(text, name)
	return found.sum, err
}

// IsForgeArchive exports isForgeArchive.
var IsForgeArchive = isForgeArchive
