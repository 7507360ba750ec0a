//go:build !linux && !darwin

package filelock

// Boot returns "": this system does not name its boots.
func Boot() string { return "" }
