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
	os.Exit(testenv.Prepare(m).Run())
}
