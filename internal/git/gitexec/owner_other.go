//go:build !unix

package gitexec

import "io/fs"

// ownedByOther does not check owners on these systems.
func ownedByOther(fs.FileInfo) bool { return false }
