package hcldepth_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestMain leaves the tests a quarter of Go's gigabyte for a stack. A parser
// that exhausts it ends the process.
func TestMain(m *testing.M) {
	debug.SetMaxStack(250_000_000)
	os.Exit(testenv.Prepare(deepStacks{m}).Run())
}

// deepStacks runs tests with room for two such stacks. Below the limit of testenv
// the garbage collector would never stop, and read these stacks again each time.
type deepStacks struct{ *testing.M }

func (tests deepStacks) Run() int {
	debug.SetMemoryLimit(750_000_000)
	return tests.M.Run()
}
