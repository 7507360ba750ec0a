package providerzip_test

import (
	"os"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Prepare(m).Run()) }
