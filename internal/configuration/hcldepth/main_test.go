package hcldepth_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestMain limits the stack of the tests to a quarter of Go's gigabyte. A parser that exhausts it
// ends the process.
func TestMain(m *testing.M) {
	debug.SetMaxStack(250_000_000)
	os.Exit(testenv.Prepare(deepStacks{m}).Run())
}

// deepStacks runs tests with a memory limit for two such stacks. With the limit of testenv, the
// garbage collector would run all the time and scan these stacks again and again.
type deepStacks struct{ *testing.M }

func (tests deepStacks) Run() int {
	debug.SetMemoryLimit(750_000_000)
	return tests.M.Run()
}
