package getmodules_test

import (
	"flag"
	"os"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// exhaustive makes tests run every combination of their independent factors. Without it,
// they try each value of each factor, but in fewer combinations.
var exhaustive = flag.Bool("exhaustive", false, "run every combination of each test's factors")

func TestMain(m *testing.M) { os.Exit(testenv.Prepare(m).Run()) }
