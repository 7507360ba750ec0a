//go:build !linux

package testenv

// memoryDir returns "", because other systems have no directory in memory at a known place.
func memoryDir() string { return "" }
