//go:build !windows

package project

import "os"

// linkDirectory makes a link to a directory.
func linkDirectory(target, name string) error { return os.Symlink(target, name) }
