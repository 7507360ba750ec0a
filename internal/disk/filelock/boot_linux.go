package filelock

import (
	"os"
	"strings"
	"sync"
)

// Boot returns the name of the system's current boot, which containers share with their host, or "" if it is not known.
var Boot = sync.OnceValue(func() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
})
