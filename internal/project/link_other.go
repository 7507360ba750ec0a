//go:build !windows

package project

import "os"

func linkDirectory(target, name string) error { return os.Symlink(target, name) }
