package store

import "syscall"

func changed(sys *syscall.Stat_t) int64 { return sys.Ctim.Nano() }
