//go:build !linux && !darwin

package store

import "io/fs"

// stateOf returns false: this system does not report change times.
func stateOf(fs.FileInfo) (fileState, bool) { return fileState{}, false }

// isOwn returns false: this system does not report owners in this way.
func isOwn(fs.FileInfo) bool { return false }
