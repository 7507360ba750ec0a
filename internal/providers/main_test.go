package providers_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// childVariable makes a process of this test binary get a package and exit.
const childVariable = "COTTER_TEST_PROVIDERS_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childVariable); text != "" {
		if err := child(context.Background(), text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(testenv.Prepare(m).Run())
}
