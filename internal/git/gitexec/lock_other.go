//go:build !unix

package gitexec

import (
	"io/fs"
	"os"
)

// lockFlags are the flags to open a lock file.
const lockFlags = os.O_CREATE | os.O_RDONLY

// ownedByOther returns false, because the owner of a file is not checked on these systems.
func ownedByOther(fs.FileInfo) bool { return false }
