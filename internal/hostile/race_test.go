//go:build race

package hostile_test

// raceDetector says that memory is not what it is otherwise.
const raceDetector = true
