package store

import (
	"os"
	"strings"
	"sync"
	"syscall"
)

func changed(sys *syscall.Stat_t) int64 { return sys.Ctim.Nano() }

// boot returns the name of the system's current boot, or "" if it is not known.
var boot = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})
