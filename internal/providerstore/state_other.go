//go:build !linux && !darwin

package providerstore

import "io/fs"

// stateOf reports false: this system does not tell the change time of a file.
func stateOf(fs.FileInfo) (fileState, bool) { return fileState{}, false }

// boot returns "": the current boot of the system has no name.
func boot() string { return "" }
