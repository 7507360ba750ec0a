//go:build !unix

package gitexec

import (
	"context"
	"io/fs"
	"os"
)

// lockFlags open a lock file.
const lockFlags = os.O_CREATE | os.O_RDONLY

// holdFile does nothing: children inherit no locks here.
func holdFile(context.Context, string) (*os.File, error) { return nil, nil }

// ownedByOther reports false: who owns a file is not asked here.
func ownedByOther(fs.FileInfo) bool { return false }
