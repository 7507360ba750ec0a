package filelock

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Boot returns the name of the system's current boot, or "" if it is not known.
var Boot = sync.OnceValue(func() string {
	name, _ := unix.Sysctl("kern.bootsessionuuid")
	return name
})
