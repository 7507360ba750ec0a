//go:build !unix

package gitexec

import (
	"context"
	"io/fs"
	"os"
)

// lockFlags are the flags to open a lock file.
const lockFlags = os.O_CREATE | os.O_RDONLY

// holdFile does nothing, because child processes do not inherit locks on these systems.
func holdFile(context.Context, string) (*os.File, error) { return nil, nil }

// ownedByOther returns false, because the owner of a file is not checked on these systems.
func ownedByOther(fs.FileInfo) bool { return false }
