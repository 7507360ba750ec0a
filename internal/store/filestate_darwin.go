package store

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func changed(sys *syscall.Stat_t) int64 { return sys.Ctimespec.Nano() }

// boot returns the name of the system's current boot, or "" if it is not known.
var boot = sync.OnceValue(func() string {
	name, _ := unix.Sysctl("kern.bootsessionuuid")
	return name
})
