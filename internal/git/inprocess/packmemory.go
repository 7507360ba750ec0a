package inprocess

import "golang.org/x/sync/semaphore"

const (
	// wholeBytes is the size up to which an object, a delta or a base is in memory as a whole while it is read. Larger
	// ones go through files.
	wholeBytes = 512 << 10
	// residentBytes is what the objects of all packs in this process have together in memory.
	residentBytes = 64 << 20
	// baseBytes is for the bases of deltas that are applied at the same time. A larger one is read from its file, step
	// by step.
	baseBytes = 64 << 20
	// manyObjects is how many objects all packs in this process may have together; each takes some 130 bytes.
	manyObjects = 1_000_000
)

// Shares of the memory of this process. No other share, and no byte from a server, is waited for while one of bases is
// held, so it is soon released. Nothing waits for the others.
var (
	resident = semaphore.NewWeighted(residentBytes)
	bases    = semaphore.NewWeighted(baseBytes)
	objects  = semaphore.NewWeighted(manyObjects)
)
