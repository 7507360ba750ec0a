//go:build !race

package hostile_test

// raceDetector reports whether the race detector is used, which changes the use of memory.
const raceDetector = false
