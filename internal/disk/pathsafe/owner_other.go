//go:build !unix

package pathsafe

import "io/fs"

// hasOwners is false: modes do not show access rights here.
const hasOwners = false

func exposedDir(path string, info fs.FileInfo) (ExposedDir, access) {
	return ExposedDir{Path: path, Mode: info.Mode()}, access{}
}
