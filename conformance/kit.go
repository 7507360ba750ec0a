package conformance

import (
	"embed"
	"io/fs"
)

//go:embed testdata
var kit embed.FS

// Kit returns the cases for programs that read and write locks or compute hashes, with a README.md;
// docs/spec/conformance.md describes how a program is run on them.
func Kit() fs.FS {
	cases, err := fs.Sub(kit, "testdata")
	if err != nil {
		panic(err) // the name is valid
	}
	return cases
}
