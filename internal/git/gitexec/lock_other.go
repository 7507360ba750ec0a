//go:build !unix

package gitexec

import (
	"io/fs"
	"os"
)

const lockFlags = os.O_CREATE | os.O_RDONLY

// ownedByOther does not check owners on these systems.
func ownedByOther(fs.FileInfo) bool { return false }
