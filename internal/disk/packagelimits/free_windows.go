package packagelimits

import (
	"math"

	"golang.org/x/sys/windows"
)

// freeSpace returns the bytes that this user may still write on the volume of a directory.
func freeSpace(dir string) (bytes int64, ok bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(name, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(min(free, math.MaxInt64)), true //nolint:gosec // it is at most math.MaxInt64
}
