package testenv

import "runtime"

// Allocated returns how many bytes are allocated while work runs, garbage included. Those of other tests count
// too, so tests that compare small numbers are not parallel.
func Allocated(work func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
