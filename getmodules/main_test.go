package getmodules_test

import (
	"flag"
	"os"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// exhaustive runs every combination of the tests whose factors do not depend on
// each other. Without it they have each value of each factor, in fewer combinations.
var exhaustive = flag.Bool("exhaustive", false, "run every combination of each test's factors")

func TestMain(m *testing.M) { os.Exit(testenv.Prepare(m).Run()) }
