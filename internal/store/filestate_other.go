//go:build !linux && !darwin

package store

import "io/fs"

// stateOf returns false: this system does not report the change time of a file.
func stateOf(fs.FileInfo) (fileState, bool) { return fileState{}, false }

// isOwn returns false: this system does not report the owner of a file in this way.
func isOwn(fs.FileInfo) bool { return false }

// boot returns "": this system does not name its current boot.
func boot() string { return "" }
